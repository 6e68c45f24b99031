import { textProtocolNames, type NativeState, type TextProtocolName } from '#canonical/index.ts';
import { digest, isEnvelope, textFacts } from '#protocols/index.ts';
import { findFacts } from '#vendors/index.ts';
import type { StateSealer } from './sealer.ts';

export interface SealedState {
  /** Who can read it: `makerId`. */
  readonly maker: string;
  readonly state: NativeState;
  /** Its original place, relative to the reasoning block that carries it now. */
  readonly place: StatePlace;
  /** Identifies the signed text; null if it signs none, or the text does not matter. */
  readonly text: string | null;
}

export type StatePlace = 'own' | 'next' | 'previous';

const prefix = 'gw2.';

// Encoded by index, so that envelopes of equally long state are equally long. Add new ones at the end.
const places: readonly StatePlace[] = ['own', 'next', 'previous'];
const protocols = textProtocolNames;
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
export function openState(
  sealer: StateSealer,
  owner: string,
  envelopeText: string,
): SealedState | null {
  if (!envelopeText.startsWith(prefix)) return null;
  const content = sealer.open(owner, Buffer.from(envelopeText.slice(prefix.length), 'base64url'));
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
  return textFacts[protocol].state.signsReasoning && kind === 'signature' ? digest(12, text) : null;
}

/** What the envelopes of one exchange are made and opened with. */
export interface Sealing {
  readonly sealer: StateSealer;
  /** The team or user whose requests may open them. */
  readonly owner: string;
}

/**
 * Puts state into an envelope in the client's form of opaque state.
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
  const textOfState = place === 'own' ? signedText(state, text) : null;
  const sealedText = sealState(sealer, owner, { maker, state, place, text: textOfState });
  const { isBytes } = textFacts[client].state;
  const data = isBytes ? Buffer.from(sealedText).toString('base64') : sealedText;
  return { protocol: client, kind: 'envelope', data };
}

/** Opens state that a client returned; null unless it is intact and belongs to this owner. */
export function openFromClient({ sealer, owner }: Sealing, state: NativeState): SealedState | null {
  if (isEnvelope(state.data)) return openState(sealer, owner, state.data);
  if (!textFacts[state.protocol].state.isBytes) return null;
  const decodedText = Buffer.from(state.data, 'base64').toString('latin1');
  return isEnvelope(decodedText) ? openState(sealer, owner, decodedText) : null;
}

/** Who made a reasoning state, and therefore can read it. */
export interface StateMaker {
  /** The vendor: all its accounts can read each other's state. */
  readonly provider: string;
  /** The model's name at the upstream. */
  readonly model: string;
  /** The channel's id. */
  readonly channel: string;
}

/**
 * The same text for all makers that can read each other's state. Its length is constant, so that the length of an
 * envelope reveals nothing about the names. Where one name covers many vendors, the channel distinguishes their state.
 */
export function makerId({ provider, model, channel }: StateMaker): string {
  return digest(16, provider, model, findFacts(provider)?.isManyVendors === true ? channel : '');
}
