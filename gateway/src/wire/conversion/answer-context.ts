import type { NativeState } from '#canonical/index.ts';
import type { AnswerContext, Codec } from '#protocols/index.ts';
import type { AnswerLosses } from './answer-losses.ts';
import { sealForClient, type Sealing } from './state/client-state.ts';
import type { StatePlace } from './state/envelope.ts';
import type { StateStore } from './state/state-store.ts';
import type { ClientTool } from './tools/tool-names.ts';

/** What turns an upstream's answer into the client's: fixed when the request was encoded. */
export interface AnswerPasses {
  readonly answer: AnswerContext;
  readonly upstream: Codec;
  readonly client: Codec;
  /** By the names that the upstream was given. A name that no tool has (models invent some) stays what it is. */
  readonly clientTools: ReadonlyMap<string, ClientTool>;
  readonly losses: AnswerLosses;
  /** Who can read the state that comes: `makerId`. */
  readonly maker: string;
  readonly sealing: Sealing;
  readonly store: StateStore;
}

/**
 * Messages clients give thoughts back only when they are signed, and take an empty signature for their vendor's own;
 * generate-content's own vendor wants a signature on the first call of an answer, should the conversation go there.
 * What came without any gets an envelope with nothing in it. Null where none is wanted.
 */
export function emptySignature(
  passes: AnswerPasses,
  place: 'thought' | 'first call',
): NativeState | null {
  const { client, upstream } = passes;
  const wanting = place === 'thought' ? 'messages' : 'generate-content';
  if (client.name !== wanting) return null;
  return sealed(passes, { protocol: upstream.name, kind: 'encrypted', data: '' }, 'own');
}

/** The state in an envelope of the client's kind; null when its protocol has no place for any. */
export function sealed(
  { client, sealing, maker }: AnswerPasses,
  state: NativeState,
  place: StatePlace,
  text = '',
): NativeState | null {
  return client.traits.state === 'none'
    ? null
    : sealForClient(sealing, client.name, maker, state, place, text);
}
