import { degradedParts } from './degraded-parts.ts';
import { clock } from './clock.ts';
import { Closing } from './closing.ts';
import { openCounters } from './counting.ts';
import { createObserving } from './observing.ts';
import { openOffer } from './offer.ts';
import { createRelaying } from './relaying.ts';
import { createServing, type Serving, type StopOptions } from './serving.ts';
import { openStorage } from './storage.ts';
import { growYoungSpaceFast } from './young-space.ts';
import { resolveModel, type CatalogueStore } from '#catalogue/index.ts';
import type { Config } from '#config/index.ts';
import {
  createSecrets,
  prepareDataFolder,
  readMasterKey,
  tightenDataFolder,
  type OpenDatabase,
} from '#database/index.ts';
import { tryListening } from '#http/index.ts';
import {
  assertDataFolderFree,
  condenseRefusals,
  type Journal,
  type RefusalsOptions,
} from '#journal/index.ts';
import { spentOf } from '#ledger/index.ts';
import { createBodyMemory, defaultBodyMemory } from '#bodies/index.ts';
import { journalFolders, workerFolder } from '#nodes/index.ts';
import type { Logger, Metrics, UncaughtErrors } from '#observability/index.ts';
import { createChannelHealth } from '#routing/index.ts';
import { applyFile, prepareDatabase, type FirstStart } from '#startup/index.ts';
import type { GuardedFetchOptions } from '#upstream/index.ts';
import { sumUsage } from '#usage/index.ts';

/** A gateway that is running. */
export interface App {
  /** Where it listens, with the port it really got. */
  readonly url: string;
  readonly dataDir: string;
  readonly firstStart: FirstStart;
  readonly catalogue: Pick<CatalogueStore, 'snapshot'>;
  readonly journal: Journal;
  readonly database: OpenDatabase;
  /** Makes a newly read file's lists effective; running requests keep what they started with. */
  reload(config: Config): Promise<void>;
  /** Makes what has changed in the database effective, as it would become within seconds. */
  refresh(): Promise<void>;
  readonly metrics: Pick<Metrics, 'collect'>;
  /** Stops admitting, lets running requests end, makes everything durable, and closes. */
  close(options?: StopOptions): Promise<void>;
}

export interface AppOptions {
  readonly config: Config;
  readonly logger: Logger;
  /** Milliseconds that a client may take nothing of its answer; set lower by tests only. */
  readonly writeStall?: number;
  /** Bounds of refusals in a minute; set higher by tests only. */
  readonly refusalBounds?: Pick<RefusalsOptions, 'mostRows' | 'mostRefusals'>;
  /** How the names of media addresses are resolved and connections to them are made; set by tests only. */
  readonly mediaFetch?: GuardedFetchOptions;
  /** Folders with journals of ended nodes, which this one puts into the database. */
  readonly adopt?: readonly string[];
  /** What this process has to tell of itself. Default: that all is well. */
  readonly uncaught?: UncaughtErrors;
  /** Where a first start puts its secrets; absent: its caller shows them. */
  readonly secretsFile?: string;
  /** Absent: the only process on its data folder. */
  readonly worker?: WorkerSeat;
}

/** One of several processes on one port and one data folder, and what its supervisor did and knows. */
export interface WorkerSeat {
  /** From 1. */
  readonly number: number;
  readonly firstStart: FirstStart;
  /** What the supervisor has to say for `/ready`. */
  readonly degraded: () => readonly string[];
  /** The metrics of all workers; null: those of this one. */
  readonly renderMetrics: () => Promise<string | null>;
}

/**
 * Builds every object of a gateway once, in the order in which they need each other, and starts to listen. The parts
 * close the other way round: first the server, last the database.
 * @throws Error with a sentence for the operator when something it needs cannot be had.
 */
export async function startApp(options: AppOptions): Promise<App> {
  const {
    config,
    logger,
    writeStall,
    refusalBounds,
    mediaFetch,
    adopt = [],
    worker = null,
  } = options;
  const { uncaught = { exceptions: 0, rejections: 0 } } = options;
  const shared = config.storage.dataDir;
  const dataDir = worker === null ? shared : workerFolder(shared, worker.number);
  prepareDataFolder(dataDir);
  if (worker === null) tightenDataFolder({ dataDir, databaseUrl: config.storage.url, log: logger });
  const secrets = createSecrets(config.secrets.masterKey ?? readMasterKey(shared));
  const onUnexpectedError = (error: unknown, requestId: string) =>
    logger.error('unexpected error', error, { requestId });
  const closing = new Closing();
  try {
    assertDataFolderFree(dataDir);
    // Before anything is made: what a first start prints is shown once, and by a start that succeeds.
    if (worker === null) await tryListening(config.server);
    const firstStart =
      worker?.firstStart ?? (await prepareDatabase(config, secrets, options.secretsFile));
    const adopted = worker === null ? [...journalFolders(dataDir), ...adopt] : [];
    const storage = await openStorage({ config, logger, dataDir, adopted }, closing);
    const { database, journal } = storage;
    const offer = await openOffer(storage, secrets, logger, closing);
    const { snapshot } = offer.catalogue;
    const counters = await openCounters(config, logger, storage, closing);

    const refusals = closing.add(
      condenseRefusals({
        journal,
        isKnownModel: (name) => resolveModel(snapshot(), name) !== null,
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
    const { metrics, observer } = createObserving({
      ...storage,
      logger,
      snapshot,
      health,
      uncaught,
      bodyMemory: memory,
      openConnections: () => serving.openConnections(),
      overloadRefusals: () => serving.overloadRefusals,
      degraded: () => degraded(),
      renderMetrics: worker?.renderMetrics,
    });
    const { relay, watch } = createRelaying(
      {
        ...storage,
        config,
        logger,
        secrets,
        snapshot,
        health,
        journal: refusals,
        counters,
        observer,
        onUnexpectedError,
        mediaFetch,
      },
      closing,
    );
    const { revisions, keys } = offer;
    const degraded = () =>
      degradedParts({
        ...storage,
        config,
        revisions,
        counters,
        uncaught,
        pressures: () => serving.pressures,
        said: worker?.degraded,
      });
    const serving: Serving = createServing(
      {
        config,
        logger,
        relay,
        watch,
        counters,
        memory,
        metrics,
        keys,
        snapshot,
        usage: {
          sums: ({ by, ...filter }) => sumUsage(database.kysely, filter, by),
          spent: (meters) => spentOf(database.kysely, meters),
        },
        refusals,
        isUsable: () => journal.usable,
        degraded,
        onUnexpectedError,
        writeStall,
      },
      closing,
    );
    await serving.listen();
    growYoungSpaceFast();

    return {
      url: serving.url,
      dataDir,
      firstStart,
      catalogue: offer.catalogue,
      journal,
      database,
      async reload(newConfig) {
        await applyFile(newConfig, secrets);
        await offer.refresh();
      },
      refresh: offer.refresh,
      metrics,
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
