import type { Config } from '#config/index.ts';
import type { FirstStart } from '#startup/index.ts';

/**
 * The environment variable with the worker's number. Being a cluster worker is not enough: other programs may start the
 * gateway in clusters of their own.
 */
export const workerNumberVariable = 'SLUICE_WORKER';

/** Messages between the supervisor and its workers: plain data, cloned in transit. */
export type ToWorker =
  | {
      readonly kind: 'begin';
      readonly config: Config;
      /** For the greeting, which only a worker can write: it knows which models can be called. */
      readonly firstStart: FirstStart;
      readonly degraded: readonly string[];
    }
  /** Problems for `/ready`: the supervisor's, and those of all workers. */
  | DegradedMessage
  | PeerMessage
  | Ask
  | WorkerReply
  | { readonly kind: 'stop'; readonly keepListening: number }
  /** Stop waiting for what still runs. */
  | { readonly kind: 'hurry' };

export type FromWorker =
  /** Messages before this one may be lost: the worker does not listen yet. */
  | { readonly kind: 'ready' }
  | { readonly kind: 'listening'; readonly greeting: string }
  /** The worker's own problems, whenever they change. */
  | DegradedMessage
  | PeerMessage
  /** Only `metrics`: those of all workers. */
  | Ask
  | WorkerReply;

export interface DegradedMessage {
  readonly kind: 'degraded';
  readonly degraded: readonly string[];
}

/** From one worker to all others; the supervisor only passes it on. */
export interface PeerMessage {
  readonly kind: 'peers';
  readonly value: unknown;
}

export interface Ask {
  readonly kind: 'ask';
  readonly id: number;
  readonly question: Question;
}

export type Question =
  /** `refresh`: pick up database changes; the reply is a sentence about a failure, or null. */
  'refresh' | 'metrics';

export interface WorkerReply {
  readonly kind: 'answer';
  readonly id: number;
  readonly value: unknown;
}

/** Other messages use the same channel. */
export function isMessage(value: unknown): value is { readonly kind: string } {
  return typeof value === 'object' && value !== null && 'kind' in value;
}
