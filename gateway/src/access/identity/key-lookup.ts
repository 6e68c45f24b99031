import type { DatabaseBreaker, OpenDatabase } from '#database/index.ts';
import { callersByHash, type CallerEntry } from './callers.repository.ts';

/** How long a key stays unknown after the database did not have it. */
const missingFor = 10_000;
const maxMissing = 100_000;
/** Hashes asked for in one query. */
const maxPerQuery = 500;
/** A query is repeated if keys changed while it ran. After this many repetitions the keys count as unknown. */
const maxQueries = 5;
/** Hashes waiting for a query. Beyond this number somebody tries keys faster than the database responds. */
const maxWaiting = 10_000;
/** A query that takes longer than this may be waiting for a database that restarts: then only the next batch waits. */
const slowMs = 500;

interface Waiting {
  readonly promise: Promise<CallerEntry | null>;
  readonly resolve: (entry: CallerEntry | null) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Looks up keys that are not in memory: each at most once per 10 s, one query at a time, and the next query takes
 * everything that arrived meanwhile. So invented keys cannot overload the database, and few wait for one that does not
 * respond.
 */
export function createKeyLookup(options: {
  readonly database: OpenDatabase;
  readonly breaker: DatabaseBreaker;
  readonly now: () => number;
  /** Counts the changes loaded from the database. */
  readonly changes: () => number;
}) {
  const missingKeys = createNegativeCache({ lifetime: missingFor, max: maxMissing });
  const waiting = new Map<string, Waiting>();
  /** Hashes of the running query; concurrent look-ups of one share its result. */
  let waitingLookups = new Map<string, Waiting>();
  let running = false;
  let askedAt = 0;

  async function run(): Promise<void> {
    running = true;
    while (waiting.size > 0) {
      waitingLookups = new Map(waiting.entries().take(maxPerQuery));
      for (const hash of waitingLookups.keys()) waiting.delete(hash);
      await ask();
    }
    running = false;
  }

  /** A result from before a change, arriving after it, would restore a key that was revoked. */
  async function queryCallers(hashes: readonly string[]): Promise<CallerEntry[]> {
    for (let queries = 0; queries < maxQueries; queries += 1) {
      const before = options.changes();
      const entries = await options.breaker(() => callersByHash(options.database.kysely, hashes));
      if (options.changes() === before) return entries;
    }
    throw new Error('keys change faster than they can be looked up');
  }

  async function ask(): Promise<void> {
    const batch = waitingLookups;
    askedAt = options.now();
    try {
      const entries = await queryCallers([...batch.keys()]);
      const entriesByHash = new Map<string | null, CallerEntry>();
      for (const entry of entries) {
        entriesByHash.set(entry.hash, entry);
        if (entry.previous !== null) entriesByHash.set(entry.previous.hash, entry);
      }
      for (const [hash, { resolve }] of batch) {
        const entry = entriesByHash.get(hash) ?? null;
        if (entry === null) missingKeys.add(hash, options.now());
        resolve(entry);
      }
    } catch (error) {
      for (const { reject } of batch.values()) reject(error);
    } finally {
      waitingLookups = new Map();
    }
  }

  return {
    isMissing: (hash: string) => missingKeys.has(hash, options.now()),
    /** @throws the error of the database, or an Error if too many look-ups wait. */
    find(hash: string): Promise<CallerEntry | null> {
      const already = waitingLookups.get(hash) ?? waiting.get(hash);
      if (already !== undefined) return already.promise;
      const isSlow = running && options.now() - askedAt > slowMs;
      if (waiting.size >= (isSlow ? maxPerQuery : maxWaiting)) {
        return Promise.reject(new Error('too many unknown keys are being looked up'));
      }
      const entry = Promise.withResolvers<CallerEntry | null>();
      waiting.set(hash, entry);
      if (!running) void run();
      return entry.promise;
    },
  };
}

/**
 * Remembers missing names for a while, in bounded memory: at the bound the oldest entry goes. All entries live equally
 * long, so insertion order is the order of expiry.
 */
export function createNegativeCache(options: { readonly lifetime: number; readonly max: number }) {
  const expiries = new Map<string, number>();
  return {
    /** @param now milliseconds of a monotonic clock */
    has(key: string, now: number): boolean {
      const expiry = expiries.get(key);
      if (expiry === undefined) return false;
      if (now < expiry) return true;
      expiries.delete(key);
      return false;
    },
    add(key: string, now: number): void {
      expiries.delete(key);
      if (expiries.size >= options.max) expiries.delete(expiries.keys().next().value ?? '');
      expiries.set(key, now + options.lifetime);
    },
    get size() {
      return expiries.size;
    },
  };
}
