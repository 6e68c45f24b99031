import { setTimeout as wait } from 'node:timers/promises';
import type { SpentSource } from '#limits/index.ts';

export interface SpentSourceOptions {
  /** Resolves when the journals of earlier processes are in the database. */
  readonly ready: Promise<unknown>;
  /** The totals spent on meters according to the database. */
  readonly read: SpentSource;
  /** Milliseconds; a request must not wait for a database to come back. */
  readonly patience?: number;
}

const defaultPatience = 2_000;

/**
 * The spending before this process began to count: read from the database, once all of it is there. The source @throws
 * Error if that, or the query, takes too long.
 */
export function createSpentSource(options: SpentSourceOptions): SpentSource {
  const { ready, read, patience = defaultPatience } = options;
  return async (meters) => {
    const ending = new AbortController();
    const tooLate = wait(patience, undefined, { signal: ending.signal, ref: false }).then(() => {
      throw new Error('what was spent before is not known yet');
    });
    try {
      return await Promise.race([ready.then(() => read(meters)), tooLate]);
    } finally {
      ending.abort();
      tooLate.catch(() => {});
    }
  };
}
