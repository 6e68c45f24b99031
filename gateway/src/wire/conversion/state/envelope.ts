import type { NativeState, TextProtocolName } from '#canonical/index.ts';
import { digest } from '#protocols/index.ts';
import type { SealedState, StatePlace } from './sealed-state.ts';
import { openSigned } from './signed-envelope.ts';
import type { StateSealer } from './sealer.ts';

const prefix = 'gw2.';

// Encoded by index, so that envelopes of equally long state are equally long. Add new ones at the end.
const places: readonly StatePlace[] = ['own', 'next', 'previous'];
const protocols: readonly TextProtocolName[] = [
  'chat',
  'responses',
  'messages',
  'generate-content',
];
const kinds: readonly NativeState['kind'][] = [
  'signature',
  'redacted',
  'encrypted',
  'thought-signature',
  'reasoning-content',
];

/**
 * Encrypts reasoning state for a client to keep and return: `gw2.` and the encrypted content in base64url.
 * @param owner the team or user whose requests may open it
 */
export function sealState(
  sealer: StateSealer,
  owner: string,
  { maker, state, place, text }: SealedState,
): string {
  const content = [
    maker,
    protocols.indexOf(state.protocol),
    kinds.indexOf(state.kind),
    places.indexOf(place),
    state.data,
    state.id ?? 0,
    text ?? 0,
  ];
  return prefix + sealer.seal(owner, JSON.stringify(content)).toString('base64url');
}

/**
 * Opens an envelope of this owner; null for anything else, and for one that was altered or sealed under another master
 * key.
 */
export function openState(sealer: StateSealer, owner: string, sealed: string): SealedState | null {
  if (!sealed.startsWith(prefix)) return openSigned(sealer, sealed);
  const content = sealer.open(owner, Buffer.from(sealed.slice(prefix.length), 'base64url'));
  return content === null ? null : read(JSON.parse(content));
}

/** Reads content that the gateway wrote, possibly in another version. */
function read(content: unknown): SealedState | null {
  if (!Array.isArray(content)) return null;
  const [maker, protocol, kind, place, data, id, text] = content as readonly unknown[];
  const state = {
    protocol: protocols[Number(protocol)],
    kind: kinds[Number(kind)],
    place: places[Number(place)],
  };
  if (typeof maker !== 'string' || typeof data !== 'string') return null;
  if (state.protocol === undefined || state.kind === undefined || state.place === undefined) {
    return null;
  }
  return {
    maker,
    state: {
      protocol: state.protocol,
      kind: state.kind,
      data,
      ...(typeof id === 'string' && { id }),
    },
    place: state.place,
    text: typeof text === 'string' ? text : null,
  };
}

/**
 * Distinguishes the text that a state signs; null for states that sign none. Messages upstreams refuse a signature with
 * another text, and clients leave reasoning out, cut it or join it.
 */
export function signedText({ protocol, kind }: NativeState, text: string): string | null {
  return protocol === 'messages' && kind === 'signature' ? digest(12, text) : null;
}
