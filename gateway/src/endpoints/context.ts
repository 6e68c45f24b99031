import type { onRequestHookHandler } from 'fastify';
import type { ModelLists } from './model-lists.ts';
import type { RateHooks } from './rates.ts';
import type { TextExchange } from './text-exchange.ts';

/** What the routes of every client surface work with. */
export interface EndpointContext {
  /**
   * The hook that authenticates; one per scope. `queryKey`: the scope's endpoints take the key from `?key=` too.
   */
  authenticate(queryKey: boolean): onRequestHookHandler;
  /** The hook of every route that asks an upstream. */
  readonly admit: onRequestHookHandler;
  readonly countRates: RateHooks;
  readonly runText: TextExchange;
  readonly lists: ModelLists;
}
