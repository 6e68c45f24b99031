import type { NativeState, TextProtocolName } from '../../canonical/index.ts';
import { digest, isRecord } from '../../protocols/index.ts';

/** Made from the master key by the composition root. */
export interface StateSigner {
  /** A signature in base64url. */
  sign(text: string): string;
  verify(text: string, signature: string): boolean;
}

/** Who made a state, and so who may have it back. */
export interface StateOwner {
  /** A vendor: what one of its accounts made, another one reads. */
  readonly provider: string;
  /** As the upstream is asked for it. */
  readonly model: string;
  /** The channel's id. */
  readonly channel: string;
}

export interface SealedState {
  readonly owner: StateOwner;
  readonly state: NativeState;
  /** Where it sat, as seen from the reasoning block that carries it now. */
  readonly place: StatePlace;
  /** Identifies the text that it signs; null when it signs none, or nobody minds. */
  readonly text: string | null;
}

export type StatePlace = 'own' | 'next' | 'previous';

const prefix = 'gw1.';

const kinds: ReadonlySet<unknown> = new Set<NativeState['kind']>([
  'signature',
  'redacted',
  'encrypted',
  'thought-signature',
]);
const protocols: ReadonlySet<unknown> = new Set<TextProtocolName>([
  'chat',
  'responses',
  'messages',
  'generate-content',
]);

/** Reasoning state as a client may keep it and give it back: `gw1.`, the content, and a signature over both. */
export function sealState(signer: StateSigner, { owner, state, place, text }: SealedState): string {
  const content = {
    p: owner.provider,
    m: owner.model,
    c: owner.channel,
    t: state.protocol,
    k: state.kind,
    d: state.data,
    ...(state.id !== undefined && { i: state.id }),
    ...(place !== 'own' && { a: place }),
    ...(text !== null && { h: text }),
  };
  const sealed = prefix + Buffer.from(JSON.stringify(content)).toString('base64url');
  return `${sealed}.${signer.sign(sealed)}`;
}

/** An envelope of ours; null for anything else, and for one that was altered or sealed under another master key. */
export function openState(signer: StateSigner, sealed: string): SealedState | null {
  const end = sealed.lastIndexOf('.');
  if (!isEnvelope(sealed) || end <= prefix.length) return null;
  const text = sealed.slice(0, end);
  if (!signer.verify(text, sealed.slice(end + 1))) return null;
  const content: unknown = JSON.parse(
    Buffer.from(text.slice(prefix.length), 'base64url').toString('utf8'),
  );
  return isRecord(content) ? read(content) : null;
}

export function isEnvelope(text: string): boolean {
  return text.startsWith(prefix);
}

function read(content: Readonly<Record<string, unknown>>): SealedState | null {
  const { p, m, c, t, k, d, i, a, h } = content;
  if (typeof p !== 'string' || typeof m !== 'string' || typeof c !== 'string') return null;
  if (typeof d !== 'string' || !protocols.has(t) || !kinds.has(k)) return null;
  return {
    owner: { provider: p, model: m, channel: c },
    state: {
      protocol: t as TextProtocolName,
      kind: k as NativeState['kind'],
      data: d,
      ...(typeof i === 'string' && { id: i }),
    },
    place: a === 'next' || a === 'previous' ? a : 'own',
    text: typeof h === 'string' ? h : null,
  };
}

/**
 * What tells the text that a state signs from any other; null for states that sign none. Messages upstreams refuse a
 * signature with another text than theirs, and clients leave thoughts out, cut them or join them.
 */
export function signedText({ protocol, kind }: NativeState, text: string): string | null {
  return protocol === 'messages' && kind === 'signature' ? digest(12, text) : null;
}

/** One name for many vendors: their states are told apart by the channel. */
const manyVendors: ReadonlySet<string> = new Set(['openai-compatible']);

/** Would the target take this state back as its own? */
export function belongsTo(
  { owner, state }: Pick<SealedState, 'owner' | 'state'>,
  target: StateOwner,
  protocol: TextProtocolName,
): boolean {
  return (
    state.protocol === protocol &&
    owner.provider === target.provider &&
    owner.model === target.model &&
    (owner.channel === target.channel || !manyVendors.has(owner.provider))
  );
}
