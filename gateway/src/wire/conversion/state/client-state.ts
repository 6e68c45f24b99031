import type { NativeState, TextProtocolName } from '#canonical/index.ts';
import { isEnvelope } from '#protocols/index.ts';
import { openState, sealState, signedText } from './envelope.ts';
import type { SealedState, StatePlace } from './sealed-state.ts';
import type { StateSealer } from './sealer.ts';

/** What the envelopes of one exchange are made and opened with. */
export interface Sealing {
  readonly sealer: StateSealer;
  /** The team or user whose requests may open them. */
  readonly owner: string;
}

/**
 * Puts state into an envelope in the client's form of opaque state. Generate-content's form is base64: its SDKs keep
 * bytes and return them in either alphabet.
 * @param maker who can read the state: `makerId`
 * @param text the text of the block with the state
 */
export function sealForClient(
  { sealer, owner }: Sealing,
  client: TextProtocolName,
  maker: string,
  state: NativeState,
  place: StatePlace,
  text = '',
): NativeState {
  const signed = place === 'own' ? signedText(state, text) : null;
  const sealed = sealState(sealer, owner, { maker, state, place, text: signed });
  const data = client === 'generate-content' ? Buffer.from(sealed).toString('base64') : sealed;
  return { protocol: client, kind: 'envelope', data };
}

/** Opens state that a client returned; null unless it is intact and belongs to this owner. */
export function openFromClient({ sealer, owner }: Sealing, state: NativeState): SealedState | null {
  if (isEnvelope(state.data)) return openState(sealer, owner, state.data);
  if (state.protocol !== 'generate-content') return null;
  const decoded = Buffer.from(state.data, 'base64').toString('latin1');
  return isEnvelope(decoded) ? openState(sealer, owner, decoded) : null;
}
