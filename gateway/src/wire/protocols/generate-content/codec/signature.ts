import type { NativeState } from '#canonical/index.ts';
import { isEnvelope, skipSignature } from '../../shared/state/without-state.ts';
import type { JsonRecord } from '../../shared/values.ts';
import { member } from '../fields.ts';

/** A part's `thoughtSignature`; undefined if absent. */
export function readState(part: JsonRecord): NativeState | undefined {
  const data = member(part, 'thoughtSignature');
  if (typeof data !== 'string' || data === '' || data === skipSignature) return undefined;
  const kind = isEnvelope(data) ? 'envelope' : 'thought-signature';
  return { protocol: 'generate-content', kind, data };
}

/** Only signatures by this protocol's models: upstreams refuse any other as corrupted. */
export function upstreamSignature(state: NativeState | undefined): string | undefined {
  const isOwn = state?.protocol === 'generate-content' && state.kind === 'thought-signature';
  return isOwn ? state.data : undefined;
}

/** State that a client can return: a signature of this protocol, or an envelope around any state. */
export function clientSignature(state: NativeState | undefined): string | undefined {
  return state?.kind === 'envelope' ? state.data : upstreamSignature(state);
}
