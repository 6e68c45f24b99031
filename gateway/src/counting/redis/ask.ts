import type { Link, Reply } from './link.ts';
import type { Script } from './scripts.ts';

/** Runs a script on the data this node knows of; rejected when Redis has been emptied since, or fails. */
export type Ask = (
  script: Script,
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

/** Runs scripts with what all of them want first: the epoch, and the time where it is not left to Redis. */
export function createAsk({ run, epochKey, epoch, serverTime, onEmptied }: AskOptions): Ask {
  return async (script, keys, values) => {
    const time = serverTime === null ? '' : String(serverTime());
    const reply = await run(script, [epochKey, ...keys], [epoch(), time, ...values]);
    if (reply[0] === 'lost') {
      onEmptied();
      throw new Error('Redis has been emptied');
    }
    return reply;
  };
}
