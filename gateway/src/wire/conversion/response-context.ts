import type { NativeState, Finish, TextProtocolName } from '#canonical/index.ts';
import { type ResponseContext, type Codec, textFacts } from '#protocols/index.ts';
import type { ResponseLosses } from './losses.ts';
import { sealForClient, type Sealing, type StatePlace } from './state/envelope.ts';
import type { StateStore } from './state/state-store.ts';
import type { ClientTool } from './tools/tool-names.ts';

/** Everything that turns an upstream's response into the client's; fixed when the request was encoded. */
export interface ResponsePasses {
  readonly context: ResponseContext;
  readonly upstream: Codec;
  readonly client: Codec;
  /** By the names that the upstream received. A name that no tool has (models invent some) stays as it is. */
  readonly clientTools: ReadonlyMap<string, ClientTool>;
  readonly losses: ResponseLosses;
  /** Who can read the state in the response: `makerId`. */
  readonly maker: string;
  /** `placeOf` the conversation that the response continues. */
  readonly place: string;
  readonly sealing: Sealing;
  readonly store: StateStore;
}

/**
 * Messages clients return reasoning only if it is signed, and take an empty signature for their vendor's own.
 * Generate-content's own vendor requires a signature on the first call of a response, in case the conversation moves
 * there. A block without a signature therefore gets an empty envelope. Null if none is needed.
 */
export function emptySignature(
  passes: ResponsePasses,
  place: 'thought' | 'first call',
): NativeState | null {
  const { client, upstream } = passes;
  if (textFacts[client.name].state.emptySignature !== place) return null;
  return clientEnvelope(passes, { protocol: upstream.name, kind: 'encrypted', data: '' }, 'own');
}

/**
 * Whether the state on a text goes to the client in a reasoning block beside it. Clients of Responses that did not ask
 * for such state would make an empty turn of it.
 */
export function takesCarriers({ client, context }: ResponsePasses): boolean {
  return (
    client.traits.state === 'reasoning' && client.wantsState?.(context.request.extensions) !== false
  );
}

/** The state in an envelope of the client's kind; null if its protocol has no place for one. */
export function clientEnvelope(
  { client, sealing, maker }: ResponsePasses,
  state: NativeState,
  place: StatePlace,
  text = '',
): NativeState | null {
  return client.traits.state === 'none'
    ? null
    : sealForClient(sealing, client.name, maker, state, place, text);
}

/**
 * Upstreams contradict themselves: some stop at a call and report "stop", others report a call and make none. The
 * delivered blocks decide. A reason that says nothing about the text counts as a normal end.
 */
export function settledFinish(finish: Finish, calls: number): Finish {
  switch (finish.reason) {
    case 'end':
    case 'tool':
    case 'other':
      return calls > 0 ? { reason: 'tool' } : { reason: 'end' };
    default:
      return finish;
  }
}

/** Everything needed to read the responses to a converted request; plain data, fixed when the request was encoded. */
export interface ResponseTerms {
  readonly context: ResponseContext;
  readonly client: TextProtocolName;
  readonly upstream: TextProtocolName;
  /** By the names that the upstream received. */
  readonly clientTools: ReadonlyMap<string, ClientTool>;
  /** Who can read the state in the responses: `makerId`. */
  readonly maker: string;
  /** `placeOf` the conversation. */
  readonly place: string;
  /** The team or user that the responses belong to. */
  readonly owner: string;
}
