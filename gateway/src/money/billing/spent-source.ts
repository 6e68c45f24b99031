import { setTimeout as wait } from 'node:timers/promises';
import type { SpentSource } from '#limits/index.ts';

export interface SpentSourceOptions {
  /** Resolves when the journals of earlier processes are in the database. */
  readonly ready: Promise<unknown>;
  /** What has been spent on the meters of those journals; holds until they are in the database. */
  readonly early?: Promise<ReadonlyMap<string, bigint>>;
  /** The totals spent on meters according to the database. */
  readonly read: SpentSource;
  /** Milliseconds; a request must not wait for a database to come back. */
  readonly patience?: number;
}

const defaultPatience = 2_000;

const none: ReadonlyMap<string, bigint> = new Map();
const never = new Promise<never>(() => {});

/**
 * The spending before this process began to count. It is read from the database; as long as the journals of earlier
 * processes are not in there, `early` has the meters that they concern. The source @throws Error if that, or the query,
 * takes too long.
 */
export function createSpentSource(options: SpentSourceOptions): SpentSource {
  const { ready, early = never, read, patience = defaultPatience } = options;
  let isReady = false;
  const whenReady = ready.then(() => {
    isReady = true;
    return none;
  });

  async function find(meters: readonly string[]): Promise<ReadonlyMap<string, bigint>> {
    const knownTotals = isReady ? none : await Promise.race([whenReady, early]);
    const unknown = meters.filter((meter) => !knownTotals.has(meter));
    const readTotals = unknown.length > 0 ? await read(unknown) : none;
    return new Map(
      meters.map((meter) => [meter, knownTotals.get(meter) ?? readTotals.get(meter) ?? 0n]),
    );
  }

  return async (meters) => {
    const ending = new AbortController();
    const tooLate = wait(patience, undefined, { signal: ending.signal, ref: false }).then(() => {
      throw new Error('what was spent before is not known yet');
    });
    try {
      return await Promise.race([find(meters), tooLate]);
    } finally {
      ending.abort();
      tooLate.catch(() => {});
    }
  };
}
