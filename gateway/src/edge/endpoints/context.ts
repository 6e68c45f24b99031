import type { FastifyInstance, onRequestHookHandler } from 'fastify';
import type { ModelLists } from './model-lists.ts';
import type { RateHooks } from './rates.ts';
import type { TextExchange } from './text-exchange.ts';

/** What the routes of every client surface work with. */
export interface EndpointContext {
  /** Lets only callers into a scope. `queryKey`: its endpoints take the key from `?key=` too. */
  authenticate(scope: FastifyInstance, options: { readonly queryKey: boolean }): void;
  /** The hook of every route that asks an upstream. */
  readonly admit: onRequestHookHandler;
  readonly countRates: RateHooks;
  /** The hook of the same routes, after the rates. */
  readonly limitLargeBodies: onRequestHookHandler;
  readonly runText: TextExchange;
  readonly lists: ModelLists;
}
