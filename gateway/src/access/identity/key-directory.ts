import type { DatabaseBreaker, OpenDatabase, RevisionWatch, Secrets } from '#database/index.ts';
import { GatewayError } from '#errors/index.ts';
import type { Caller, KeyDirectory } from './caller.ts';
import { allCallers, callersSince, type CallerEntry } from './callers.repository.ts';
import { isKeySecret, isMistyped } from './key-secret.ts';
import { createKeyLookup } from './key-lookup.ts';

/** Milliseconds that keys in memory are good for without a look at the database: one may have been revoked since. */
const goodForMs = 600_000;

export interface KeyDirectoryOptions {
  readonly database: OpenDatabase;
  /** Between requests and the database, for keys that are not in memory. */
  readonly breaker: DatabaseBreaker;
  readonly secrets: Pick<Secrets, 'hashKey'>;
  /** Tells when keys, users or teams changed. */
  readonly watch: RevisionWatch;
  /** Milliseconds of a clock that does not step; default: since the process began. */
  readonly now?: () => number;
}

export interface LoadedKeyDirectory extends KeyDirectory {
  /** Reads every key; before it, each key is looked up on its own. @throws when the database is away. */
  load(): Promise<void>;
  /** Reads what changed. @throws when the database is away; what is held stays. */
  refresh(): Promise<void>;
  readonly size: number;
}

/**
 * All keys in memory by the hash of their secret. The hash is keyed, so that neither the time of a look-up nor
 * the table says anything about a secret.
 */
export function createKeyDirectory(options: KeyDirectoryOptions): LoadedKeyDirectory {
  const { database, breaker, secrets, watch, now = () => performance.now() } = options;
  const callers = new Map<string, Caller>();
  /** Key id → its hash, to forget the old one when a secret is replaced. */
  const hashes = new Map<string, string>();
  /** Likewise of the secrets before, of keys that were rotated. */
  const previousHashes = new Map<string, string>();
  let changesTaken = 0;
  const lookup = createKeyLookup({ database, breaker, now, changes: () => changesTaken });
  let seen: number | null = null;

  function keep({ hash, caller, previous }: CallerEntry): void {
    forget(hashes, caller.keyId);
    forget(previousHashes, caller.keyId);
    if (hash !== null) put(hashes, hash, caller);
    if (previous !== null) put(previousHashes, previous.hash, previous.caller);
  }

  function forget(known: Map<string, string>, keyId: string): void {
    const old = known.get(keyId);
    if (old === undefined) return;
    known.delete(keyId);
    callers.delete(old);
  }

  function put(known: Map<string, string>, hash: string, caller: Caller): void {
    known.set(caller.keyId, hash);
    callers.set(hash, caller);
  }

  const changes = watch.subscribe(async (revision) => {
    if (seen === null) return false;
    for await (const page of callersSince(database.kysely, seen)) {
      changesTaken += 1;
      for (const entry of page) keep(entry);
    }
    seen = revision;
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
      // Asked first: what changes while the pages are read comes with the next look.
      await watch.poll();
      const revision = watch.revision;
      for await (const page of allCallers(database.kysely)) {
        for (const entry of page) keep(entry);
      }
      seen = revision;
    },
    refresh: () => watch.poll(),
    get size() {
      return callers.size;
    },
  };
}
