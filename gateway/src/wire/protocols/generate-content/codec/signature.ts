import type { NativeState } from '#canonical/index.ts';
import { isEnvelope } from '../../envelope.ts';
import type { JsonRecord } from '../../values.ts';
import { member } from '../fields.ts';

/** What goes where a signature is demanded and none of the model's own exists; clients write it, too. */
export const skipSignature = 'skip_thought_signature_validator';

/** A part's `thoughtSignature`; undefined when it has none. */
export function readState(part: JsonRecord): NativeState | undefined {
  const data = member(part, 'thoughtSignature');
  if (typeof data !== 'string' || data === '' || data === skipSignature) return undefined;
  const kind = isEnvelope(data) ? 'envelope' : 'thought-signature';
  return { protocol: 'generate-content', kind, data };
}

/** Only what this protocol's models made: anything else is refused as a corrupted signature. */
export function upstreamSignature(state: NativeState | undefined): string | undefined {
  const isOwn = state?.protocol === 'generate-content' && state.kind === 'thought-signature';
  return isOwn ? state.data : undefined;
}

/** What a client can give back: a signature of this protocol, or an envelope around anybody's state. */
export function clientSignature(state: NativeState | undefined): string | undefined {
  return state?.kind === 'envelope' ? state.data : upstreamSignature(state);
}
