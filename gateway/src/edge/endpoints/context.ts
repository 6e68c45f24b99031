import type { onRequestHookHandler } from 'fastify';
import type { Tasks } from '#tasks/index.ts';
import type { Authenticate } from './authentication.ts';
import type { ModelLists } from './model-lists.ts';
import type { RateHooks } from './rates.ts';
import type { RunExchange } from './run-exchange.ts';

/** What clients may do with their tasks. */
export type OwnTasks = Pick<Tasks, 'find' | 'list' | 'remove' | 'findResult'>;

/** What the routes of every client surface share. */
export interface EndpointContext {
  readonly authenticate: Authenticate;
  /** The hook of every route that calls an upstream. */
  readonly admit: onRequestHookHandler;
  readonly countRates: RateHooks;
  /** The hook of the same routes that runs after the rates. */
  readonly limitLargeBodies: onRequestHookHandler;
  readonly run: RunExchange;
  readonly lists: ModelLists;
  readonly tasks: OwnTasks;
}
