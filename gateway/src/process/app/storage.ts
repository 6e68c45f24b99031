import type { Config } from '#config/index.ts';
import {
  createDatabaseBreaker,
  openDatabase,
  type DatabaseBreaker,
  type OpenDatabase,
} from '#database/index.ts';
import { openJournal, type Journal } from '#journal/index.ts';
import {
  adoptJournals,
  createNodeRegistry,
  readNodeId,
  type Adoption,
  type NodeRegistry,
} from '#nodes/index.ts';
import type { Logger } from '#observability/index.ts';
import type { Closing } from './closing.ts';

export interface Storage {
  readonly database: OpenDatabase;
  /** Guards the queries that requests wait for. */
  readonly breaker: DatabaseBreaker;
  readonly nodes: NodeRegistry;
  readonly journal: Journal;
  readonly adoption: Adoption;
}

export interface StorageOptions {
  readonly config: Config;
  readonly logger: Logger;
  /** This process's own folder, with its node id and its journal. */
  readonly dataDir: string;
  /** Folders with journals that no running process writes to the database. */
  readonly adopted: readonly string[];
}

/** Opens the durable part: the database, and the journal of records that are not in it yet. */
export async function openStorage(
  { config, logger, dataDir, adopted }: StorageOptions,
  closing: Closing,
): Promise<Storage> {
  const databaseUrl = config.storage.url;
  const database = closing.add(openDatabase({ url: databaseUrl }));
  const node = readNodeId(dataDir);
  const nodes = closing.add(createNodeRegistry({ database, id: node, log: logger }));
  const journal = closing.add(
    await openJournal({
      dataDir,
      node,
      maxSize: config.journal.maxSize,
      replay: config.journal.replay,
      databaseUrl,
      keepUsage: config.retention.usage,
      onProblem: ({ kind, message }) =>
        logger.warn(`journal: ${kind}`, { component: 'journal', detail: message }),
      onLoss: () => void nodes.refresh(),
      onRecovery: (kind) =>
        logger.info(`journal: recovered from ${kind}`, { component: 'journal' }),
    }),
  );
  await nodes.join(journal);
  const adoption = closing.add(
    adoptJournals({
      folders: adopted,
      database,
      databaseUrl,
      log: logger,
      onLoss: () => void nodes.refresh(),
    }),
  );
  return { database, breaker: createDatabaseBreaker(), nodes, journal, adoption };
}
