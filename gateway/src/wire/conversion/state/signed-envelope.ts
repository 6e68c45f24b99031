import type { NativeState, TextProtocolName } from '#canonical/index.ts';
import { isRecord } from '#protocols/index.ts';
import { makerId } from './maker.ts';
import type { SealedState } from './sealed-state.ts';
import type { StateSealer } from './sealer.ts';

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

/**
 * Opens an envelope of the previous version, which was signed, readable and without an owner. Only read, never written,
 * so that conversations survive the update. Remove this file in the next version.
 */
export function openSigned(sealer: StateSealer, sealed: string): SealedState | null {
  const end = sealed.lastIndexOf('.');
  if (!sealed.startsWith(prefix) || end <= prefix.length) return null;
  const text = sealed.slice(0, end);
  if (!sealer.verify(text, sealed.slice(end + 1))) return null;
  const content: unknown = JSON.parse(
    Buffer.from(text.slice(prefix.length), 'base64url').toString('utf8'),
  );
  return isRecord(content) ? read(content) : null;
}

function read(content: Readonly<Record<string, unknown>>): SealedState | null {
  const { p, m, c, t, k, d, i, a, h } = content;
  if (typeof p !== 'string' || typeof m !== 'string' || typeof c !== 'string') return null;
  if (typeof d !== 'string' || !protocols.has(t) || !kinds.has(k)) return null;
  return {
    maker: makerId({ provider: p, model: m, channel: c }),
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
