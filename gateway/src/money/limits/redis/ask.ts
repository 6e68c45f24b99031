import type { Link, Replies, Reply } from './link.ts';
import { scripts, type Step } from './scripts.ts';

/**
 * Runs a step on the data epoch this node takes part in. Rejects if Redis has lost its data since, or fails; then it is
 * unknown whether the step took effect.
 */
export type Ask = (
  step: Step,
  keys: readonly string[],
  values: readonly string[],
) => Promise<Reply>;

export interface AskOptions {
  readonly run: Link['run'];
  readonly epochKey: string;
  /** The epoch of the Redis data that this node takes part in. */
  readonly epoch: () => string;
  /** A clock in microseconds, for tests; null: Redis's own clock. */
  readonly serverTime: (() => number) | null;
  readonly onEmptied: () => void;
}

/** Redis does nothing else during a batch, so a batch must end within a few milliseconds. */
const mostSteps = 100;

interface Batch {
  readonly keys: string[];
  readonly values: string[];
  readonly asked: PromiseWithResolvers<Reply>[];
}

/** Nobody waits for these steps. */
const ends: ReadonlySet<Step> = new Set(['leave']);

/**
 * Sends all steps of one turn of the event loop to Redis together, in order, as one script: most of a step's cost is
 * the round trip. Ends also wait while another batch is in flight and go in front of the next steps, so a later step
 * sees them done.
 */
export function createAsk({ run, epochKey, epoch, serverTime, onEmptied }: AskOptions): Ask {
  let batch: Batch | null = null;
  let isDue = false;
  let onTheWay = 0;

  const open = (): Batch => {
    const time = serverTime === null ? '' : String(serverTime());
    return { keys: [epochKey], values: [epoch(), time], asked: [] };
  };

  const send = (): void => {
    isDue = false;
    if (batch === null) return;
    const { keys, values, asked } = batch;
    batch = null;
    onTheWay += 1;
    run(scripts.batch, keys, values).then(
      (replies) => {
        answered();
        if (replies[0] === 'lost') {
          onEmptied();
          fail(asked, new Error('Redis lost its data'));
        } else settle(asked, replies);
      },
      (error: unknown) => {
        answered();
        fail(asked, error);
      },
    );
  };

  const answered = (): void => {
    onTheWay -= 1;
    if (!isDue) send();
  };

  return (step, keys, values) => {
    batch ??= open();
    batch.keys.push(...keys);
    batch.values.push(step, String(keys.length), String(values.length), ...values);
    const asked = Promise.withResolvers<Reply>();
    batch.asked.push(asked);
    if (batch.asked.length >= mostSteps) send();
    else if (!isDue && (onTheWay === 0 || !ends.has(step))) {
      isDue = true;
      setImmediate(send);
    }
    return asked.promise;
  };
}

function settle(asked: Batch['asked'], replies: Replies): void {
  for (const [at, { resolve, reject }] of asked.entries()) {
    const reply = replies[at];
    if (reply instanceof Error) reject(reply);
    else resolve(reply as Reply);
  }
}

function fail(asked: Batch['asked'], error: unknown): void {
  for (const { reject } of asked) reject(error);
}
