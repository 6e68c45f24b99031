import type { DatabaseBreaker, OpenDatabase } from '#database/index.ts';
import { callersByHash, type CallerEntry } from './callers.repository.ts';
import { createNegativeCache } from './negative-cache.ts';

/** How long a key stays unknown once the database did not have it. */
const missingFor = 10_000;
const maxMissing = 100_000;
/** Hashes asked for in one query. */
const maxPerQuery = 500;
/** A query is repeated when keys changed while its answer was on its way. Changing as often as that, they are not known. */
const maxQueries = 5;
/** Hashes waiting for their query. Beyond it somebody is trying keys faster than the database answers. */
const maxWaiting = 10_000;

interface Waiting {
  readonly promise: Promise<CallerEntry | null>;
  readonly resolve: (entry: CallerEntry | null) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Asks the database for keys that are not in memory: each at most once per 10 s, one query at a time, and the
 * next query takes everything that came meanwhile. So made-up keys cannot load the database, and nobody waits for one
 * that does not answer.
 */
export function createKeyLookup(options: {
  readonly database: OpenDatabase;
  readonly breaker: DatabaseBreaker;
  readonly now: () => number;
  /** Counts the changes that have been taken over from the database. */
  readonly changes: () => number;
}) {
  const missing = createNegativeCache({ lifetime: missingFor, max: maxMissing });
  const waiting = new Map<string, Waiting>();
  /** Hashes of the running query: who asks for one of them shares its answer. */
  let asked = new Map<string, Waiting>();
  let running = false;

  async function run(): Promise<void> {
    running = true;
    while (waiting.size > 0) {
      asked = new Map(waiting.entries().take(maxPerQuery));
      for (const hash of asked.keys()) waiting.delete(hash);
      await ask();
    }
    running = false;
  }

  /** An answer from before a change, arriving after it, would bring back a key that was revoked. */
  async function queried(hashes: readonly string[]): Promise<CallerEntry[]> {
    for (let queries = 0; queries < maxQueries; queries += 1) {
      const before = options.changes();
      const entries = await options.breaker(() => callersByHash(options.database.kysely, hashes));
      if (options.changes() === before) return entries;
    }
    throw new Error('keys change faster than they can be looked up');
  }

  async function ask(): Promise<void> {
    const batch = asked;
    try {
      const entries = await queried([...batch.keys()]);
      const found = new Map<string | null, CallerEntry>();
      for (const entry of entries) {
        found.set(entry.hash, entry);
        if (entry.previous !== null) found.set(entry.previous.hash, entry);
      }
      for (const [hash, { resolve }] of batch) {
        const entry = found.get(hash) ?? null;
        if (entry === null) missing.add(hash, options.now());
        resolve(entry);
      }
    } catch (error) {
      for (const { reject } of batch.values()) reject(error);
    } finally {
      asked = new Map();
    }
  }

  return {
    isMissing: (hash: string) => missing.has(hash, options.now()),
    /** @throws what the database threw, or when too many look-ups wait. */
    find(hash: string): Promise<CallerEntry | null> {
      const already = asked.get(hash) ?? waiting.get(hash);
      if (already !== undefined) return already.promise;
      if (waiting.size >= maxWaiting) {
        return Promise.reject(new Error('too many unknown keys are being looked up'));
      }
      const entry = Promise.withResolvers<CallerEntry | null>();
      waiting.set(hash, entry);
      if (!running) void run();
      return entry.promise;
    },
  };
}
