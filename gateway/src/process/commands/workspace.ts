import { existsSync } from 'node:fs';
import type { Administration } from '#administration/index.ts';
import type { Config } from '#config/index.ts';
import {
  assertMigrated,
  claimMasterKey,
  connectDatabase,
  createSecrets,
  migrate,
  type OpenDatabase,
  prepareDataFolder,
  readMasterKey,
  type Secrets,
  sqliteFileOf,
} from '#database/index.ts';

/** The database and the secrets of one configuration, for a command that works on them. */
export interface Workspace {
  readonly database: OpenDatabase;
  readonly secrets: Secrets;
}

/**
 * Runs `work` with the database as it is, for commands that change nothing.
 * @throws Error if there is no database yet, or its tables do not match this version.
 */
export async function withReadableWorkspace<Result>(
  config: Config,
  work: (workspace: Workspace) => Promise<Result>,
): Promise<Result> {
  assertPresent(config);
  return withDatabase(config, async (workspace) => {
    await assertMigrated(workspace.database);
    return work(workspace);
  });
}

/** Runs use cases with the migrated database, a new one if there is none yet. */
export function withAdministration<Result>(
  config: Config,
  work: (administration: Administration) => Promise<Result>,
): Promise<Result> {
  return withDatabase(config, async (workspace) => {
    const { database } = workspace;
    await migrate(database);
    const { secrets } = workspace;
    // A secret hashed or sealed under another key would be useless.
    await claimMasterKey(database, secrets);
    const { recordAudit } = await import('#administration/index.ts');
    return work({ database, secrets, audit: recordAudit, now: Date.now });
  });
}

/** Only migrates the tables: it may run where the master key is unknown. */
export function migrateWorkspace(config: Config): ReturnType<typeof migrate> {
  return withDatabase(config, ({ database }) => migrate(database));
}

/** @throws Error if there is no database yet */
export function assertPresent(config: Config): void {
  if (!isAbsent(config)) return;
  const file = sqliteFileOf(config.storage.url);
  throw new Error(`storage.url: there is no database ${file} yet: start the gateway first`);
}

/** Whether it is a SQLite file that does not exist; opening it would create it. */
export function isAbsent(config: Config): boolean {
  const file = sqliteFileOf(config.storage.url);
  return file !== null && !existsSync(file);
}

async function withDatabase<Result>(
  config: Config,
  work: (workspace: Workspace) => Promise<Result>,
): Promise<Result> {
  prepareDataFolder(config.storage.dataDir);
  const database = await connectDatabase({
    url: config.storage.url,
    transport: 'in-thread',
    statementTimeout: 0,
  });
  let secrets: Secrets | null = null;
  try {
    return await work({
      database,
      // Lazy, because reading the master key creates a missing one.
      get secrets() {
        secrets ??= createSecrets(
          config.secrets.masterKey ?? readMasterKey(config.storage.dataDir),
        );
        return secrets;
      },
    });
  } finally {
    await database.close();
  }
}
