import type { Config } from '#config/index.ts';
import type { FirstStart } from '#startup/index.ts';

/** Names the seat of a worker in its environment; other programs start us in clusters of their own. */
export const seatVariable = 'SLUICE_WORKER';

/** Between the supervisor and its workers. Plain data, cloned on its way. */
export type ToWorker =
  | {
      readonly kind: 'begin';
      readonly config: Config;
      /** For the greeting, which only a worker can write: it knows what can be called. */
      readonly firstStart: FirstStart;
      readonly degraded: readonly string[];
    }
  /** What the supervisor has to say for `/ready`. */
  | { readonly kind: 'degraded'; readonly degraded: readonly string[] }
  | Ask
  | Answer
  | { readonly kind: 'stop'; readonly keepListening: number }
  /** Do not wait any longer for what still runs. */
  | { readonly kind: 'hurry' };

export type FromWorker =
  /** What is sent before it may be lost: the worker does not hear yet. */
  | { readonly kind: 'ready' }
  | { readonly kind: 'listening'; readonly greeting: string }
  /** Only `metrics`: those of all workers. */
  | Ask
  | Answer;

export interface Ask {
  readonly kind: 'ask';
  readonly id: number;
  readonly question: Question;
}

export type Question =
  /** Make effective what has changed in the database. The answer: a sentence about what failed, or null. */
  'refresh' | 'metrics';

export interface Answer {
  readonly kind: 'answer';
  readonly id: number;
  readonly value: unknown;
}

/** Other messages travel on the same channel. */
export function isMessage(value: unknown): value is { readonly kind: string } {
  return typeof value === 'object' && value !== null && 'kind' in value;
}
