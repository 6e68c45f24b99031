import type { CatalogueSnapshot } from '#catalogue/index.ts';
import type { OpenDatabase, Secrets } from '#database/index.ts';
import type { Logger } from '#observability/index.ts';
import type { GuardedFetch } from '#upstream/index.ts';
import {
  type CopyTally,
  leaseMilliseconds,
  readResultSource,
  type ResultSource,
} from '#tasks/index.ts';
import { linksIn, nameOf, typeOf, type KeptFile, type NamedLink } from './files.ts';
import {
  claimResults,
  deleteResult,
  giveResultsBack,
  renewResult,
  storeResult,
  type ResultRow,
} from './results.repository.ts';
import type { ResultStorage } from './storage.ts';

/** Milliseconds, and bytes of one file. */
export const copyRules = Object.freeze({
  /** How long a copy is served. */
  keepFor: 86_400_000,
  /** A download that began in time may end. */
  afterwards: 3_600_000,
  /** Vendors' links end after about a day. */
  giveUpAfter: 86_400_000,
  /** The first pause after a failed try; it doubles. */
  pause: 5_000,
  mostPause: 600_000,
  longest: 3_600_000,
  mostBytes: 2 * 2 ** 30,
});

const atOnce = 4;
const lookEvery = 2_000;

export interface CopierParts {
  /** Who holds leases: the id of this node. */
  readonly owner: string;
  /** Unix milliseconds. */
  readonly clock: { now(): number };
  readonly log: Pick<Logger, 'warn'>;
  readonly snapshot: () => Pick<CatalogueSnapshot, 'channels'>;
  readonly database: OpenDatabase;
  readonly secrets: Pick<Secrets, 'open' | 'signLink'>;
  readonly storage: ResultStorage;
  readonly fetchMedia: GuardedFetch;
  readonly tally: CopyTally;
}

/** Copies results, and removes copies that are old; this node being one of those that do. */
export interface Copier {
  /** Leases what is due and begins with it. @throws the error of the database */
  turn(): Promise<{ readonly claimed: number; readonly done: Promise<void> }>;
  /** Does so from now on. */
  start(): void;
  /** Stops what is under way; another process continues it. Never rejects. */
  close(): Promise<void>;
}

export function createCopier(parts: CopierParts): Copier {
  const { database, storage, clock, log, owner, tally } = parts;
  const stopping = new AbortController();
  const running = new Set<Promise<void>>();
  let timer: NodeJS.Timeout | null = null;
  let turning: Promise<unknown> = Promise.resolve();
  let isOwn = false;

  async function turn() {
    // Leases that an earlier process of this node had.
    if (!isOwn) await giveResultsBack(database, owner);
    isOwn = true;
    const most = atOnce - running.size;
    const rows = most > 0 ? await claimResults(database, { owner, now: clock.now(), most }) : [];
    const runningWork = rows.map((row) => {
      const work = handle(row).finally(() => running.delete(work));
      running.add(work);
      return work;
    });
    return { claimed: rows.length, done: Promise.all(runningWork).then(() => {}) };
  }

  /** Never rejects. */
  async function handle(row: ResultRow): Promise<void> {
    try {
      if (row.expires_at !== null) await remove(row);
      else if (clock.now() >= row.created_at + copyRules.giveUpAfter) await giveUp(row);
      else await copyLeased(row);
    } catch (error) {
      // The lease ends by itself, and then a node tries again.
      if (stopping.signal.aborted) return;
      const detail = error instanceof Error ? error.message : String(error);
      log.warn('a copy of a result waits', { component: 'tasks', detail });
    }
  }

  async function remove(row: ResultRow): Promise<void> {
    await storage.remove(
      row.task,
      row.files.map(({ name }) => name),
    );
    await deleteResult(database, row);
  }

  async function giveUp(row: ResultRow): Promise<void> {
    await remove(row);
    tally.failed += 1;
    const { task: detail } = row;
    log.warn('a result was not copied within a day', { component: 'tasks', detail });
  }

  /** Copies while the lease lasts, and keeps renewing it. */
  async function copyLeased(row: ResultRow): Promise<void> {
    const leaseLoss = new AbortController();
    const renewing = setInterval(() => {
      renewResult(database, row).then(
        (isOurs) => {
          if (!isOurs) leaseLoss.abort();
        },
        () => {},
      );
    }, leaseMilliseconds / 3).unref();
    try {
      await copy(row, AbortSignal.any([stopping.signal, leaseLoss.signal]));
    } finally {
      clearInterval(renewing);
    }
  }

  async function copy(row: ResultRow, signal: AbortSignal): Promise<void> {
    const files: KeptFile[] = [...row.files];
    const isKept = (link: NamedLink) => files.some(({ member }) => member === link.member);
    try {
      const source = await readResultSource(parts, row.task);
      for (const link of source === null ? [] : linksIn(source.members)) {
        if (isKept(link)) continue;
        files.push(await copyOne(parts, row.task, source!, link, signal));
      }
    } catch (error) {
      if (signal.aborted) throw error;
      const tries = row.tries + 1;
      const pause = Math.min(copyRules.pause * 2 ** (tries - 1), copyRules.mostPause);
      const dueAt = clock.now() + pause;
      await storeResult(database, row, { files, dueAt, tries, expiresAt: null });
      throw error;
    }
    const expiresAt = clock.now() + copyRules.keepFor;
    const dueAt = expiresAt + copyRules.afterwards;
    if (await storeResult(database, row, { files, dueAt, tries: row.tries, expiresAt })) {
      tally.copied += 1;
    }
  }

  function goOn(): void {
    turning = turn()
      .catch((error: Error) => {
        log.warn('results are not copied', { component: 'tasks', detail: error.message });
      })
      .finally(() => {
        if (!stopping.signal.aborted) timer = setTimeout(goOn, lookEvery).unref();
      });
  }

  return {
    turn,
    start: goOn,
    async close() {
      stopping.abort();
      if (timer !== null) clearTimeout(timer);
      await turning;
      await Promise.all(running);
      await giveResultsBack(database, owner).catch(() => {});
    },
  };
}

async function copyOne(
  { storage, fetchMedia }: CopierParts,
  task: string,
  { userId, origin }: ResultSource,
  link: NamedLink,
  signal: AbortSignal,
): Promise<KeptFile> {
  const { section, member, url } = link;
  return fetchMedia(
    {
      url,
      // Not a key: copies are no reason to let a user's requests wait.
      keyId: `results:${userId}`,
      timeout: copyRules.longest,
      maxBytes: copyRules.mostBytes,
      signal,
      isUnrestricted: true,
      ownOrigin: origin,
    },
    async ({ mime, length, pieces }) => {
      const name = nameOf(link, mime);
      await storage.write(task, name, { pieces, length, type: typeOf(name) });
      return { section, member, name };
    },
  );
}
