import type { Link, Replies, Reply } from './link.ts';
import { scripts, type Step } from './scripts.ts';

/**
 * Takes a step on the data this node knows of. Rejected when Redis has lost its data since, or fails; then nobody knows
 * whether the step was taken.
 */
export type Ask = (
  step: Step,
  keys: readonly string[],
  values: readonly string[],
) => Promise<Reply>;

export interface AskOptions {
  readonly run: Link['run'];
  readonly epochKey: string;
  /** The life of the data in Redis that this node takes part in. */
  readonly epoch: () => string;
  /** Microseconds, for tests; null: Redis's own clock. */
  readonly serverTime: (() => number) | null;
  readonly onEmptied: () => void;
}

/** Redis does nothing else meanwhile, so a batch is to be over within a few milliseconds. */
const mostSteps = 100;

interface Batch {
  readonly keys: string[];
  readonly values: string[];
  readonly asked: PromiseWithResolvers<Reply>[];
}

/** Nobody waits for these. */
const ends: ReadonlySet<Step> = new Set(['settle', 'leave']);

/**
 * Steps that are asked for in one turn of the event loop go to Redis together, in their order, as one script: most of
 * what a step costs is the way there and back. Ends also wait while another batch is on its way, and go in front of what
 * is asked next: whoever asks finds them done.
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
