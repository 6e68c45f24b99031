import type { NativeState, TextProtocolName } from '../../canonical/index.ts';
import {
  isEnvelope,
  openState,
  sealState,
  signedText,
  type SealedState,
  type StateOwner,
  type StatePlace,
  type StateSigner,
} from './envelope.ts';

/**
 * Envelopes in the form that the client's protocol has for opaque state. Generate-content's is base64: its SDKs keep
 * bytes and give them back in either alphabet.
 * @param text of the block that the state sits on
 */
export function sealForClient(
  signer: StateSigner,
  client: TextProtocolName,
  owner: StateOwner,
  state: NativeState,
  place: StatePlace,
  text = '',
): NativeState {
  const signed = place === 'own' ? signedText(state, text) : null;
  const sealed = sealState(signer, { owner, state, place, text: signed });
  const data = client === 'generate-content' ? Buffer.from(sealed).toString('base64') : sealed;
  return { protocol: client, kind: 'envelope', data };
}

/** What a client gave back, when it is ours and whole. */
export function openFromClient(signer: StateSigner, state: NativeState): SealedState | null {
  if (isEnvelope(state.data)) return openState(signer, state.data);
  if (state.protocol !== 'generate-content') return null;
  const decoded = Buffer.from(state.data, 'base64').toString('latin1');
  return isEnvelope(decoded) ? openState(signer, decoded) : null;
}
