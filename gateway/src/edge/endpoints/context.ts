import type { FastifyInstance, onRequestHookHandler } from 'fastify';
import type { Tasks } from '#tasks/index.ts';
import type { ModelLists } from './model-lists.ts';
import type { RateHooks } from './rates.ts';
import type { RunExchange } from './run-exchange.ts';

/** What clients may do with their tasks. */
export type OwnTasks = Pick<Tasks, 'find' | 'list' | 'remove' | 'findResult'>;

/** What the routes of every client surface share. */
export interface EndpointContext {
  /** Restricts a scope to authenticated callers. `queryKey`: its endpoints also accept the key from `?key=`. */
  authenticate(scope: FastifyInstance, options: { readonly queryKey: boolean }): void;
  /** The hook of every route that calls an upstream. */
  readonly admit: onRequestHookHandler;
  readonly countRates: RateHooks;
  /** The hook of the same routes that runs after the rates. */
  readonly limitLargeBodies: onRequestHookHandler;
  readonly run: RunExchange;
  readonly lists: ModelLists;
  readonly tasks: OwnTasks;
}
