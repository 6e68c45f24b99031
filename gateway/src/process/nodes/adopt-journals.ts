import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { OpenDatabase } from '#database/index.ts';
import { openJournal, type Journal } from '#journal/index.ts';
import type { Logger } from '#observability/index.ts';
import { readNodeId } from './node-id.ts';
import { removeNode } from './nodes.repository.ts';

const workerName = /^worker-[1-9]\d*$/;

/** Where the worker with this number, from 1, keeps its journal. */
export function workerFolder(dataDir: string, number: number): string {
  return join(dataDir, `worker-${number}`);
}

/** The journals of workers below a data folder. */
export function journalFolders(dataDir: string): string[] {
  if (!existsSync(dataDir)) return [];
  return readdirSync(dataDir)
    .filter((name) => workerName.test(name))
    .map((name) => join(dataDir, name))
    .filter(hasJournal);
}

function hasJournal(folder: string): boolean {
  return existsSync(join(folder, 'journal.db'));
}

export interface Adoption {
  /** When everything that could be adopted is in the database. Never rejected. */
  readonly finished: Promise<void>;
  /** What is not in the database yet and what never will be by itself, in words. */
  readonly problems: readonly string[];
  /** Stops; what is left is adopted at the next start. */
  close(): Promise<void>;
}

export interface AdoptOptions {
  /** Each with the journal of a node that ended. */
  readonly folders: readonly string[];
  readonly database: OpenDatabase;
  readonly databaseUrl: string;
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>;
}

/**
 * Puts what ended nodes left in their journals into the database, one folder after the other. While the database is
 * away it goes on trying.
 */
export function adoptJournals(options: AdoptOptions): Adoption {
  const { folders, database, databaseUrl, log } = options;
  const problems = new Map<string, string>();
  const stopping = Promise.withResolvers<void>();
  let stopped = false;

  async function adoptAll(): Promise<void> {
    for (const folder of folders) if (!stopped) await adopt(folder);
  }

  async function adopt(folder: string): Promise<void> {
    let journal: Journal | null = null;
    try {
      if (!hasJournal(folder)) throw new Error('no journal found');
      journal = await openJournal({
        dataDir: folder,
        maxSize: 0,
        databaseUrl,
        onProblem: ({ kind, message }) =>
          log.warn(`adopted journal: ${kind}`, { component: 'nodes', detail: message }),
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
    if (stopped) return;
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
      stopped = true;
      stopping.resolve();
      await finished;
    },
  };
}
