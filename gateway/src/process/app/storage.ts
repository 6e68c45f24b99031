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
  createLives,
  createNodeRegistry,
  readNodeId,
  type Adoption,
  type Lives,
  type NodeRegistry,
} from '#nodes/index.ts';
import type { Logger } from '#observability/index.ts';
import type { Closing } from './closing.ts';

export interface Storage {
  readonly database: OpenDatabase;
  /** Guards the queries that requests wait for. */
  readonly breaker: DatabaseBreaker;
  readonly nodes: NodeRegistry;
  readonly nodeId: string;
  /** Null: this process is the only one, and leases nothing. */
  readonly lives: Lives | null;
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
  /** Milliseconds between looks at a journal with nothing new; absent: the usual. */
  readonly lookEvery: number | undefined;
  /** Milliseconds between heartbeats; absent: the usual. */
  readonly beatEvery: number | undefined;
}

/** Opens the durable part: the database, and the journal of records that are not in it yet. */
export async function openStorage(
  { config, logger, dataDir, adopted, lookEvery, beatEvery }: StorageOptions,
  closing: Closing,
): Promise<Storage> {
  const databaseUrl = config.storage.url;
  const database = closing.add(openDatabase({ url: databaseUrl }));
  const node = readNodeId(dataDir);
  const nodes = closing.add(createNodeRegistry({ database, id: node, log: logger, beatEvery }));
  const lives =
    database.dialect === 'postgres'
      ? closing.add(
          createLives({ database, dataDir, log: logger, onFreed: () => void nodes.refresh() }),
        )
      : null;
  const journal = closing.add(
    await openJournal({
      dataDir,
      node,
      maxSize: config.journal.maxSize,
      replay: config.journal.replay,
      databaseUrl,
      keepUsage: config.retention.usage,
      // Leases know what is spent. What is in adopted journals is known when they are applied.
      findsSpent: lives === null && adopted.length === 0,
      lookEvery,
      onProblem: ({ kind, message }) =>
        logger.warn(`journal: ${kind}`, { component: 'journal', detail: message }),
      onLoss: () => void nodes.refresh(),
      onRecovery: (kind) =>
        logger.info(`journal: recovered from ${kind}`, { component: 'journal' }),
    }),
  );
  await nodes.join(journal);
  lives?.follow(journal);
  const adoption = closing.add(
    adoptJournals({
      folders: adopted,
      database,
      databaseUrl,
      log: logger,
      onLoss: () => void nodes.refresh(),
    }),
  );
  return {
    database,
    breaker: createDatabaseBreaker(),
    nodes,
    nodeId: node,
    lives,
    journal,
    adoption,
  };
}
