import { removeOldAudit } from '#administration/index.ts';
import path from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { degradedParts } from './degraded-parts.ts';
import { clock } from './clock.ts';
import { Closing } from './closing.ts';
import { openConsole, ownVersion } from './console.ts';
import { createHeld } from './held.ts';
import { openMoney, openRates } from './counting.ts';
import { createGatewayHealth } from './gateway-health.ts';
import { createObserving } from './observing.ts';
import { openDirectory } from './directory.ts';
import { refusalReason } from './refusal-reason.ts';
import { createRelaying } from './relaying.ts';
import { openConversationMemory } from './remembering.ts';
import { createServing, type Serving, type StopOptions } from './serving.ts';
import { openStorage } from './storage.ts';
import type { Weights } from '#body-work/index.ts';
import { resolveModel, type CatalogueStore } from '#catalogue/index.ts';
import type { Config } from '#config/index.ts';
import {
  assertMigrated,
  createSecrets,
  prepareDataFolder,
  readMasterKey,
  tightenDataFolder,
  type OpenDatabase,
} from '#database/index.ts';
import { tryAddresses } from './addresses.ts';
import { createLiveFeed } from '#console-api/index.ts';
import {
  assertDataFolderFree,
  condenseRefusals,
  type Journal,
  type RefusalsOptions,
} from '#journal/index.ts';
import { heldByTasks, spentOf } from '#ledger/index.ts';
import { createBodyMemory, createSpool, defaultBodyMemory } from '#bodies/index.ts';
import type { Peers } from '#limits/index.ts';
import { journalFolders, readNodeId, workerFolder } from '#nodes/index.ts';
import {
  openTracing,
  type Logger,
  type Metrics,
  type UncaughtErrors,
} from '#observability/index.ts';
import { createChannelHealth, explainRoutes } from '#routing/index.ts';
import { prepareDatabase, reapplyFile, type FirstStart } from '#startup/index.ts';
import type { GuardedFetchOptions } from '#upstream/index.ts';
import { removeErrorTexts, removeInSteps, sumUsage } from '#usage/index.ts';

/** A running gateway. */
export interface App {
  /** The address it listens on, with the actual port. */
  readonly url: string;
  /** The address of the console; null: it is switched off. */
  readonly consoleUrl: string | null;
  readonly dataDir: string;
  readonly firstStart: FirstStart;
  readonly catalogue: Pick<CatalogueStore, 'snapshot'>;
  readonly journal: Journal;
  readonly database: OpenDatabase;
  /** Puts the lists of a newly read file into force; running requests keep the settings they started with. */
  reload(config: Config): Promise<void>;
  /** Picks up database changes now instead of within seconds. */
  refresh(): Promise<void>;
  readonly metrics: Pick<Metrics, 'collect'>;
  /** What is degraded in this process, in words. */
  problems(): readonly string[];
  /** Stops admitting requests, lets running ones finish, makes everything durable, and closes. */
  close(options?: StopOptions): Promise<void>;
}

export interface AppOptions {
  readonly config: Config;
  readonly logger: Logger;
  /** Milliseconds for which a client may accept nothing of its response; only tests set it lower. */
  readonly writeStall?: number;
  /** Milliseconds of lag from which this process is overloaded; only tests set it higher. */
  readonly highLag?: number;
  /** Limits of refusals per minute; only tests set it higher. */
  readonly refusalBounds?: Pick<RefusalsOptions, 'mostRows' | 'mostRefusals'>;
  /** Milliseconds between looks at a journal with nothing new; only tests set it lower. */
  readonly journalLookEvery?: number;
  /** Milliseconds between heartbeats; only tests set it lower. */
  readonly beatEvery?: number;
  /** How media host names are resolved and connected to; only tests set it. */
  readonly mediaFetch?: GuardedFetchOptions;
  /** From which size on bodies are for threads; only tests set it. */
  readonly bodyWeights?: Weights;
  /** Folders with journals of stopped nodes, which this node writes to the database. */
  readonly adopt?: readonly string[];
  /** The uncaught errors of this process. Default: none. */
  readonly uncaught?: UncaughtErrors;
  /** Where a first start writes its secrets; absent: the caller prints them. */
  readonly secretsFile?: string;
  /** Puts the file's lists in force although a later file is, and lets it have what the console created. Default: false. */
  readonly takesOver?: boolean;
  /** Absent: this is the only process on its data folder. */
  readonly worker?: WorkerContext;
}

/** Bytes of images that are kept in memory; more of them go to files, which cost about as much as sending them. */
const mostSpooledMemory = 96 * 2 ** 20;

/** One of several processes on one port and one data folder, with what its supervisor prepared. */
export interface WorkerContext {
  /** From 1. */
  readonly number: number;
  readonly firstStart: FirstStart;
  /** The problems of the supervisor and of all workers, for `/ready`. */
  readonly degraded: () => readonly string[];
  /** The metrics of all workers; null: only those of this one. */
  readonly renderMetrics: () => Promise<string | null>;
  readonly peers: Peers;
}

/**
 * Creates every object of a gateway once, in order of dependency, and starts to listen. The parts close in reverse
 * order: first the server, last the database.
 * @throws Error with a message for the operator if something it needs is unavailable.
 */
export async function startApp(options: AppOptions): Promise<App> {
  const {
    config,
    logger,
    writeStall,
    highLag,
    refusalBounds,
    mediaFetch,
    adopt = [],
    worker = null,
  } = options;
  let current = config;
  const { uncaught = { exceptions: 0, rejections: 0 } } = options;
  const sharedDataDir = config.storage.dataDir;
  const dataDir = worker === null ? sharedDataDir : workerFolder(sharedDataDir, worker.number);
  prepareDataFolder(dataDir);
  if (worker === null) tightenDataFolder({ dataDir, databaseUrl: config.storage.url, log: logger });
  const secrets = createSecrets(config.secrets.masterKey ?? readMasterKey(sharedDataDir));
  const onUnexpectedError = (error: unknown, requestId: string) =>
    logger.error('unexpected error', error, { requestId });
  const closing = new Closing();
  try {
    assertDataFolderFree(dataDir);
    // Before anything is created: the output of a first start appears only once, in a start that succeeds.
    if (worker === null) await tryAddresses(config);
    const firstStart =
      worker?.firstStart ??
      (await prepareDatabase(config, secrets, {
        node: readNodeId(sharedDataDir),
        takesOver: options.takesOver ?? false,
        secretsFile: options.secretsFile,
        log: logger,
      }));
    const adopted = worker === null ? [...journalFolders(dataDir), ...adopt] : [];
    const storage = await openStorage(
      {
        config,
        logger,
        dataDir,
        adopted,
        lookEvery: options.journalLookEvery,
        beatEvery: options.beatEvery,
      },
      closing,
    );
    const { database, journal } = storage;
    // The supervisor has migrated it, perhaps long ago.
    if (worker !== null) await assertMigrated(database);
    const directory = await openDirectory(storage, secrets, logger, sharedDataDir, closing);
    const { revisions, keys } = directory;
    const { snapshot } = directory.catalogue;
    const money = openMoney(config, logger, storage, worker?.peers ?? null, closing);
    const rates = await openRates(config, logger, storage, closing);

    const feed = createLiveFeed({ epoch: clock.now(), monotonic: clock.monotonic });
    const refusals = closing.add(
      condenseRefusals({
        journal,
        onDurable: feed.finished,
        modelIdOf: (name) => resolveModel(snapshot(), name)?.model.id ?? null,
        now: clock.monotonic,
        ...refusalBounds,
      }),
    );

    const health = createChannelHealth(({ channel, message }) =>
      logger.warn(`the channel ${message}`, { component: 'routing', channel }),
    );
    const memory = createBodyMemory({
      limit: config.limits.bodyMemory ?? defaultBodyMemory(config.server.workers),
      monotonic: clock.monotonic,
    });
    const spool = createSpool({
      directory: path.join(dataDir, 'spool'),
      limit: config.limits.spool,
      memory: Math.min(mostSpooledMemory, memory.limit / 4),
      monotonic: clock.monotonic,
      onProblem: ({ message }) =>
        logger.warn('spool: write-failed', { component: 'spool', detail: message }),
      onRecovery: () => logger.info('spool: recovered from write-failed', { component: 'spool' }),
    });
    const { tracer } = closing.add(await openTracing(logger));
    const { metrics, observer, taskEnded } = createObserving({
      ...storage,
      tracer,
      logger,
      snapshot,
      health,
      uncaught,
      bodyMemory: memory,
      spool,
      money,
      server: () => serving.readings,
      tasks: () => tasks.readings,
      degraded: () => degraded(),
      renderMetrics: worker?.renderMetrics,
      onOpened: feed.started,
    });
    const remembered = await openConversationMemory(config, secrets, closing);
    const { relay, trials, ticker, tasks } = createRelaying(
      {
        ...storage,
        config,
        logger,
        remembered,
        secrets,
        snapshot,
        simulatorUrl: directory.simulatorUrl,
        health,
        journal: refusals,
        revisions,
        money,
        observer,
        taskEnded,
        onUnexpectedError,
        mediaFetch,
        bodyWeights: options.bodyWeights,
        bodyMemory: memory,
        spool,
      },
      closing,
    );
    const problems = () =>
      degradedParts({
        ...storage,
        revisions,
        money,
        rates,
        uncaught,
        spool,
        tasks: () => tasks.readings,
        pressures: () => serving.pressures,
      });
    const degraded = () => [...new Set([...problems(), ...(worker?.degraded() ?? [])])];
    closing.add({
      close: removeInSteps(
        'lines of the audit log older than retention.audit',
        (today, most) => removeOldAudit(database.kysely, today - config.retention.audit, most),
        (message) =>
          logger.warn('the audit log was not shortened', { component: 'app', detail: message }),
      ),
    });
    closing.add({
      close: removeInSteps(
        'texts of errors older than retention.error_texts',
        (today, most) =>
          removeErrorTexts(database.kysely, today - config.retention.errorTexts, most),
        (message) =>
          logger.warn('old texts of errors were not removed', {
            component: 'app',
            detail: message,
          }),
      ),
    });
    const version = ownVersion();
    const gatewayHealth = createGatewayHealth({
      ...storage,
      revisions,
      money,
      rates,
      health,
      version,
      worker: worker && { of: readNodeId(sharedDataDir), number: worker.number },
      snapshot,
      problems,
      degraded,
      serving: () => serving,
    });
    const serving: Serving = createServing(
      {
        config,
        logger,
        relay,
        ticker,
        money,
        rates,
        memory,
        metrics,
        tasks,
        keys,
        snapshot,
        usage: {
          sums: ({ by, ...filter }) => sumUsage(database.kysely, filter, [by]),
          spentSource: (meters) => spentOf(database.kysely, meters),
          heldSource: (meters) => heldByTasks(database.kysely, meters),
        },
        refusals,
        refusalReason: () => refusalReason({ ...storage, revisions, money }),
        degraded,
        onUnexpectedError,
        writeStall,
        highLag,
        spool,
        console: openConsole(
          config,
          () => current,
          {
            database,
            version,
            secrets,
            health: gatewayHealth,
            feed,
            ...trials,
            explain: (query) => explainRoutes(snapshot(), query, health, clock.monotonic()),
            bringIntoForce: () => revisions.poll(),
            held: createHeld(database, money),
            log: logger,
          },
          closing,
        ),
      },
      closing,
    );
    await serving.listen();
    storage.nodes.describe(gatewayHealth.state);
    growV8HeapFast();

    return {
      url: serving.url,
      consoleUrl: serving.consoleUrl,
      dataDir,
      firstStart,
      catalogue: directory.catalogue,
      journal,
      database,
      async reload(newConfig) {
        serving.renewCertificate();
        await reapplyFile(newConfig, secrets, { node: readNodeId(sharedDataDir) });
        current = newConfig;
        await directory.refresh();
      },
      async refresh() {
        await directory.refresh();
        serving.renewCertificate();
      },
      metrics,
      problems,
      async close(options = {}) {
        await serving.stop(options);
        await closing.closeAll();
      },
    };
  } catch (error) {
    await closing.closeAll();
    throw error;
  }
}

/**
 * The allocations of a request live for milliseconds. The heap space for such objects starts small and doubles only
 * while many of them survive; growing it faster means fewer collections, each of which copies the requests in flight.
 * Call it after the start: starting fills the space as well, and it does not shrink again.
 */
function growV8HeapFast(): void {
  setFlagsFromString('--semi-space-growth-factor=8');
}
