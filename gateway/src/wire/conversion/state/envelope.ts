import type { NativeState, TextProtocolName } from '#canonical/index.ts';
import { digest } from '#protocols/index.ts';
import { openSigned } from './signed-envelope.ts';
import type { StateSealer } from './sealer.ts';

export interface SealedState {
  /** Who can read it: `makerId`. */
  readonly maker: string;
  readonly state: NativeState;
  /** Where it sat, as seen from the reasoning block that carries it now. */
  readonly place: StatePlace;
  /** Identifies the text that it signs; null when it signs none, or nobody minds. */
  readonly text: string | null;
}

export type StatePlace = 'own' | 'next' | 'previous';

const prefix = 'gw2.';

// Written as their numbers, so that all envelopes of equally long state are equally long. New ones go to the end.
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
];

/**
 * Reasoning state as a client may keep it and give it back: `gw2.` and the encrypted content in base64url.
 * @param owner the team or user whose requests may open it.
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

/** An envelope of this owner's; null for anything else, and for one that was altered or sealed under another master key. */
export function openState(sealer: StateSealer, owner: string, sealed: string): SealedState | null {
  if (!sealed.startsWith(prefix)) return openSigned(sealer, sealed);
  const content = sealer.open(owner, Buffer.from(sealed.slice(prefix.length), 'base64url'));
  return content === null ? null : read(JSON.parse(content));
}

/** What we wrote ourselves, maybe in another version. */
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
 * What tells the text that a state signs from any other; null for states that sign none. Messages upstreams refuse a
 * signature with another text than theirs, and clients leave thoughts out, cut them or join them.
 */
export function signedText({ protocol, kind }: NativeState, text: string): string | null {
  return protocol === 'messages' && kind === 'signature' ? digest(12, text) : null;
}
