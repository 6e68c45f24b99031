import type { DatabaseBreaker, OpenDatabase, RevisionWatch, Secrets } from '#database/index.ts';
import { GatewayError } from '#errors/index.ts';
import type { Caller, KeyDirectory } from './caller.ts';
import { allCallers, callersSince, type CallerEntry } from './callers.repository.ts';
import { isKeySecret, isMistyped } from './key-secret.ts';
import { createKeyLookup } from './key-lookup.ts';

/**
 * How long keys in memory stay valid while the database cannot be read, in milliseconds: one may have been revoked
 * since.
 */
const goodForMs = 600_000;

export interface KeyDirectoryOptions {
  readonly database: OpenDatabase;
  /** Guards the database against requests with keys that are not in memory. */
  readonly breaker: DatabaseBreaker;
  readonly secrets: Pick<Secrets, 'hashKey'>;
  /** Reports changes to keys, users or teams. */
  readonly watch: RevisionWatch;
  /** Milliseconds of a monotonic clock; default: since the process began. */
  readonly now?: () => number;
}

export interface LoadedKeyDirectory extends KeyDirectory {
  /** Loads every key; until then, each key is looked up separately. @throws if the database is unreachable. */
  load(): Promise<void>;
  /** Loads changes. @throws if the database is unreachable; loaded keys stay. */
  refresh(): Promise<void>;
  readonly size: number;
}

/**
 * All keys in memory by the hash of their secret. The hash is keyed, so neither the time of a look-up nor the table
 * reveals anything about a secret.
 */
export function createKeyDirectory(options: KeyDirectoryOptions): LoadedKeyDirectory {
  const { database, breaker, secrets, watch, now = () => performance.now() } = options;
  const callers = new Map<string, Caller>();
  /** Key id → its hash, to forget the old hash when a secret is replaced. */
  const hashes = new Map<string, string>();
  /** The same for previous secrets of rotated keys. */
  const previousHashes = new Map<string, string>();
  let changesTaken = 0;
  const lookup = createKeyLookup({ database, breaker, now, changes: () => changesTaken });
  let seenRevision: number | null = null;

  function keep({ hash, caller, previous }: CallerEntry): void {
    forget(hashes, caller.keyId);
    forget(previousHashes, caller.keyId);
    if (hash !== null) put(hashes, hash, caller);
    if (previous !== null) put(previousHashes, previous.hash, previous.caller);
  }

  function forget(hashById: Map<string, string>, keyId: string): void {
    const oldHash = hashById.get(keyId);
    if (oldHash === undefined) return;
    hashById.delete(keyId);
    callers.delete(oldHash);
  }

  function put(hashById: Map<string, string>, hash: string, caller: Caller): void {
    hashById.set(caller.keyId, hash);
    callers.set(hash, caller);
  }

  const changes = watch.subscribe(async (revision) => {
    if (seenRevision === null) return false;
    for await (const page of callersSince(database.kysely, seenRevision)) {
      changesTaken += 1;
      for (const entry of page) keep(entry);
    }
    seenRevision = revision;
    return true;
  });

  async function findUnknown(hash: string): Promise<Caller | null> {
    let entry: CallerEntry | null;
    try {
      entry = await lookup.find(hash);
    } catch (cause) {
      throw new GatewayError('unavailable', { cause });
    }
    if (entry === null) return null;
    keep(entry);
    return callers.get(hash) ?? null;
  }

  return {
    find(secret) {
      if (!isKeySecret(secret)) return null;
      const hash = secrets.hashKey(secret);
      const caller = callers.get(hash);
      if (caller !== undefined) {
        if (now() - changes.upToDateAt <= goodForMs) return caller;
        return Promise.reject(new GatewayError('unavailable'));
      }
      return isMistyped(secret) || lookup.isMissing(hash) ? null : findUnknown(hash);
    },
    async load() {
      // Polled first: changes while the pages are read come with the next poll.
      await watch.poll();
      const revision = watch.revision;
      for await (const page of allCallers(database.kysely)) {
        for (const entry of page) keep(entry);
      }
      seenRevision = revision;
    },
    refresh: () => watch.poll(),
    get size() {
      return callers.size;
    },
  };
}
