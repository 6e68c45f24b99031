import { setTimeout as wait } from 'node:timers/promises';
import { tryAddresses } from '#app/addresses.ts';
import type { Config } from '#config/index.ts';
import {
  createSecrets,
  openDatabase,
  prepareDataFolder,
  readMasterKey,
  tightenDataFolder,
} from '#database/index.ts';
import { assertDataFolderFree, openJournal } from '#journal/index.ts';
import { adoptJournals, journalFolders, readNodeId } from '#nodes/index.ts';
import { createLogger, renderTogether } from '#observability/index.ts';
import { prepareDatabase, reapplyFile } from '#startup/index.ts';
import { createWorkerPool, workerForks } from '#supervisor/index.ts';
import { buildMissingConsole } from './build-console.ts';
import { type CommandInput, type CommandIo, exitCode, takeOver } from './command.ts';
import { reloadFile } from './reload-file.ts';
import { serveUntilStopped } from './serve-until-stopped.ts';
import { logMemoryShortage, secretsFileOf, watchDamage } from './start-steps.ts';
import { logPasswordsOff, logWeakKeys } from './file-warnings.ts';

/** How long the workers wait for the adoption of earlier journals; the rest is adopted while they serve. */
const adoptionMs = 10_000;

/**
 * Runs several processes on one port. This one serves nothing: it prepares the database, writes left-over journals to
 * it, starts the workers and replaces dead ones.
 */
export async function startSupervisor(
  readConfig: Config,
  input: CommandInput,
  io: CommandIo,
): Promise<number> {
  const { dataDir } = readConfig.storage;
  prepareDataFolder(dataDir);
  const logger = createLogger();
  logWeakKeys(readConfig, logger);
  logPasswordsOff(readConfig, logger);
  logMemoryShortage(readConfig, logger);
  tightenDataFolder({ dataDir, databaseUrl: readConfig.storage.url, log: logger });
  const secrets = createSecrets(readConfig.secrets.masterKey ?? readMasterKey(dataDir));
  assertDataFolderFree(dataDir);
  const damage = watchDamage(logger, readConfig.server.drainTimeout);
  // Before anything is created, as in a single process. A free port is chosen once, for later workers too.
  const config = await tryAddresses(readConfig);
  const node = readNodeId(dataDir);
  const firstStart = await prepareDatabase(readConfig, secrets, {
    node,
    takesOver: input.flag(takeOver),
    secretsFile: secretsFileOf(input, io),
    log: logger,
  });
  const database = openDatabase({ url: config.storage.url });
  // Left by a single process; while open, it keeps every other gateway from this folder.
  const journal = await openJournal({
    dataDir,
    maxSize: 0,
    databaseUrl: config.storage.url,
    onProblem: ({ kind, message }) =>
      logger.warn(`journal: ${kind}`, { component: 'journal', detail: message }),
  });
  const adoption = adoptJournals({
    folders: [...journalFolders(dataDir), ...input.texts('adopt')],
    database,
    databaseUrl: config.storage.url,
    log: logger,
  });
  const caughtUp = Promise.all([journal.caughtUp, adoption.finished]);
  await Promise.race([caughtUp, wait(adoptionMs, undefined, { ref: false })]);

  const pool = createWorkerPool({
    size: config.server.workers,
    fork: workerForks(config.server.workers),
    begin: (degraded) => ({ kind: 'begin', config, firstStart, degraded }),
    problems: () => adoption.problems,
    renderMetrics: async () => {
      const collectedMetrics = await pool.askAll('metrics');
      return renderTogether(collectedMetrics as readonly (readonly object[])[]);
    },
    log: logger,
  });
  const close = async (): Promise<void> => {
    await adoption.close();
    await journal.close();
    await database.close();
    await logger.close();
  };
  void caughtUp.then(() => pool.announceProblems());
  let greeting: string;
  try {
    greeting = await pool.start();
  } catch (error) {
    await close();
    throw error;
  }

  buildMissingConsole(config, logger);
  let allWell = false;
  await serveUntilStopped({
    io,
    logger,
    dataDir,
    greeting: () => greeting,
    workers: config.server.workers,
    damage,
    reload: () =>
      reloadFile({
        input,
        io,
        logger,
        running: readConfig,
        async apply(changedConfig) {
          await reapplyFile(changedConfig, secrets, { node });
          const problems = await pool.askAll('refresh');
          if (problems.length > 0) throw new Error(problems.join('\n'));
        },
      }),
    async stop(keepListening, hurry) {
      allWell = await pool.stop(keepListening, hurry);
    },
  });
  await close();
  return allWell && damage.uncaught.exceptions === 0 ? exitCode.done : exitCode.failed;
}
