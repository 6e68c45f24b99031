import type { FastifyRequest, onRequestHookHandler } from 'fastify';
import type { Caller } from '../access/index.ts';
import type { ModelLists } from './model-lists.ts';
import type { CallKind } from './rates.ts';
import type { TextExchange } from './text-exchange.ts';

/** What the routes of every client surface work with. */
export interface EndpointContext {
  /**
   * The hook that authenticates; one per scope. `queryKey`: the scope's endpoints take the key from `?key=` too.
   */
  authenticate(queryKey: boolean): onRequestHookHandler;
  /** The hook of every route that asks an upstream. */
  readonly admit: onRequestHookHandler;
  /** The hooks that count against the rates of a key, for requests of one kind. */
  readonly countRates: {
    readonly generation: onRequestHookHandler;
    readonly free: onRequestHookHandler;
    by(kindOf: (request: FastifyRequest) => CallKind): onRequestHookHandler;
  };
  readonly runText: TextExchange;
  readonly lists: ModelLists;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Who is calling; null before authentication and on endpoints without it. */
    caller: Caller | null;
  }
}

/** The caller of a request on an authenticated endpoint. */
export function callerOf(request: { readonly caller: Caller | null }): Caller {
  if (request.caller === null) throw new Error('this endpoint does not authenticate');
  return request.caller;
}
