import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { OpenDatabase } from '#database/index.ts';
import { openJournal, type Journal } from '#journal/index.ts';
import type { Logger } from '#observability/index.ts';
import { closeLives } from '#leases/index.ts';
import { closeOnceSilent } from './close-once-silent.ts';
import { forgetLives, livesOf } from './own-lives.ts';
import { readNodeId } from './node-id.ts';
import { removeNode } from './nodes.repository.ts';

/** Between two looks whether a life is silent. In milliseconds. */
const restMs = 5_000;

const workerName = /^worker-[1-9]\d*$/;

/** The journal folder of the worker with this number, counted from 1. */
export function workerFolder(dataDir: string, number: number): string {
  return join(dataDir, `worker-${number}`);
}

/** The journal folders of workers below a data folder. */
export function journalFolders(dataDir: string): string[] {
  if (!existsSync(dataDir)) return [];
  return readdirSync(dataDir)
    .filter((name) => workerName.test(name))
    .map((name) => join(dataDir, name))
    .filter(hasJournal);
}

/** Whether a gateway has run on this folder. */
export function hasJournal(folder: string): boolean {
  return existsSync(join(folder, 'journal.db'));
}

export interface Adoption {
  /** Resolves when everything that could be adopted is in the database. Never rejects. */
  readonly finished: Promise<void>;
  /** Records that are not in the database yet, or that need the operator, in words. */
  readonly problems: readonly string[];
  /** Stops; the next start adopts the rest. */
  close(): Promise<void>;
}

export interface AdoptOptions {
  /** The folders, each with the journal of a stopped node. */
  readonly folders: readonly string[];
  readonly database: OpenDatabase;
  readonly databaseUrl: string;
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>;
  /** Called when one of the journals has lost records. */
  readonly onLoss?: () => void;
}

/**
 * Writes the journals of stopped nodes to the database, one folder after another. Retries while the database is
 * unreachable.
 */
export function adoptJournals(options: AdoptOptions): Adoption {
  const { folders, database, databaseUrl, log } = options;
  const problems = new Map<string, string>();
  const stopping = Promise.withResolvers<void>();
  let isStopped = false;

  async function adoptAll(): Promise<void> {
    for (const folder of folders) if (!isStopped) await adopt(folder);
  }

  async function adopt(folder: string): Promise<void> {
    let journal: Journal | null = null;
    try {
      if (!hasJournal(folder)) throw new Error('no journal found');
      journal = await openJournal({
        dataDir: folder,
        node: readNodeId(folder),
        maxSize: 0,
        databaseUrl,
        onProblem: ({ kind, message }) =>
          log.warn(`adopted journal: ${kind}`, { component: 'nodes', detail: message }),
        onLoss: options.onLoss,
      });
      await applyAll(folder, journal);
    } catch (error) {
      problems.set(folder, `could not adopt the journal in ${folder}`);
      log.error('could not adopt a journal', error, { component: 'nodes', detail: folder });
    } finally {
      await journal?.close();
    }
  }

  async function applyAll(folder: string, journal: Journal): Promise<void> {
    const count = journal.depth;
    problems.set(folder, `adopting the journal in ${folder}`);
    await Promise.race([journal.caughtUp, stopping.promise]);
    if (isStopped) return;
    if (database.dialect === 'postgres') {
      const { ended, doubtful } = livesOf(folder);
      await closeLives(database, ended);
      forgetLives(folder, ended);
      await closeOnceSilent({
        database,
        lives: doubtful,
        onClosed: (lives) => forgetLives(folder, lives),
        onInUse: () =>
          log.warn('another process uses leases of this data folder, which may be a clone', {
            component: 'money',
            detail: folder,
          }),
        rest: () =>
          Promise.race([wait(restMs, true, { ref: false }), stopping.promise.then(() => false)]),
      });
      if (isStopped) return;
    }
    await removeNode(database, readNodeId(folder));
    problems.delete(folder);
    if (count > 0) {
      log.info('adopted a journal', { component: 'nodes', detail: folder, count });
    }
  }

  const finished = adoptAll();
  return {
    finished,
    get problems() {
      return [...problems.values()];
    },
    async close() {
      isStopped = true;
      stopping.resolve();
      await finished;
    },
  };
}
