import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { createKeyDirectory } from './access/index.ts';
import { createBilling, createSpentSource } from './billing/index.ts';
import {
  createCatalogueStore,
  listChannels,
  type CatalogueProblem,
  type CatalogueSnapshot,
  type CatalogueStore,
} from './catalogue/index.ts';
import type { Config } from './config/index.ts';
import { createCounters } from './counting/index.ts';
import { createConverter, MediaRefused, type FetchMedia } from './conversion/index.ts';
import {
  createRevisionWatch,
  createSecrets,
  openDatabase,
  prepareDataFolder,
  readMasterKey,
  type OpenDatabase,
  type Secrets,
} from './database/index.ts';
import { registerEndpoints } from './endpoints/index.ts';
import { createTokenEstimator } from './estimation/index.ts';
import { createServer, tryListening, listenOn } from './http/index.ts';
import { assertDataFolderFree, openJournal, type Journal } from './journal/index.ts';
import { spentOf } from './ledger/index.ts';
import {
  adoptJournals,
  createNodeRegistry,
  journalFolders,
  readNodeId,
  workerFolder,
  type NodeRegistry,
} from './nodes/index.ts';
import {
  createExchangeObserver,
  createExchangeTracer,
  createMetrics,
  createUsageAlarm,
  type ChannelTarget,
  type Logger,
  type Metrics,
  type UncaughtErrors,
} from './observability/index.ts';
import { textCodecs, textProtocols } from './protocols/index.ts';
import {
  createAdmission,
  createDrainSlots,
  createRelay,
  createWatch,
  watchPressure,
  type Admission,
  type Watch,
} from './relay/index.ts';
import { createChannelAffinity, createChannelHealth } from './routing/index.ts';
import type { FirstStart } from './startup/first-start.ts';
import { applyFile, prepareDatabase } from './startup/prepare-database.ts';
import { startSimulatorProcess, type SimulatorProcess } from './startup/simulator-process.ts';
import {
  createGuardedFetch,
  createUpstreamClient,
  FetchRefused,
  type GuardedFetchOptions,
} from './upstream/index.ts';
import { sumUsage } from './usage/index.ts';

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
  close(options?: CloseOptions): Promise<void>;
}

export interface AppOptions {
  readonly config: Config;
  readonly logger: Logger;
  /** Milliseconds that a client may take nothing of its answer; set lower by tests only. */
  readonly writeStall?: number;
  /** How the names of media addresses are resolved and connections to them are made; set by tests only. */
  readonly mediaFetch?: GuardedFetchOptions;
  /** Folders with journals of ended nodes, which this one puts into the database. */
  readonly adopt?: readonly string[];
  /** What this process has to tell of itself. Default: that all is well. */
  readonly uncaught?: UncaughtErrors;
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

export interface CloseOptions {
  /**
   * Milliseconds for which new connections are still served while `/health` says that it is over, so that load
   * balancers can take notice. Part of the drain time-out.
   */
  readonly keepListening?: number;
}

const loadRetryMs = 2_000;

const clock = Object.freeze({ now: Date.now, monotonic: () => performance.now() });

/**
 * Builds every object of a gateway once, in the order in which they need each other, and starts to listen.
 * @throws Error with a sentence for the operator when something it needs cannot be had.
 */
export async function startApp(options: AppOptions): Promise<App> {
  const { config, logger, writeStall, adopt = [], worker = null } = options;
  const { uncaught = { exceptions: 0, rejections: 0 } } = options;
  const shared = config.storage.dataDir;
  const dataDir = worker === null ? shared : workerFolder(shared, worker.number);
  prepareDataFolder(dataDir);
  const secrets = createSecrets(config.secrets.masterKey ?? readMasterKey(shared));
  const closing: (() => Promise<void> | void)[] = [];
  try {
    assertDataFolderFree(dataDir);
    // Before anything is made: what a first start prints is shown once, and by a start that succeeds.
    if (worker === null) await tryListening(config.server);
    const firstStart = worker?.firstStart ?? (await prepareDatabase(config, secrets));
    const database = openDatabase({ url: config.storage.url });
    closing.push(() => database.close());
    const nodes = createNodeRegistry({ database, id: readNodeId(dataDir), log: logger });
    closing.push(() => nodes.close());
    const journal = await openJournal({
      dataDir,
      maxSize: config.journal.maxSize,
      databaseUrl: config.storage.url,
      keepUsage: config.retention.usage,
      onProblem: ({ kind, message }) =>
        logger.warn(`journal: ${kind}`, { component: 'journal', detail: message }),
    });
    closing.push(() => journal.close());
    await nodes.join(journal);
    const adoption = adoptJournals({
      folders: worker === null ? [...journalFolders(dataDir), ...adopt] : [],
      database,
      databaseUrl: config.storage.url,
      log: logger,
    });
    closing.push(() => adoption.close());

    const revisions = createRevisionWatch({ database });
    closing.push(() => revisions.close());
    const simulator = createSimulatorSlot(logger);
    closing.push(() => simulator.close());
    await simulator.startIfWanted(database, secrets);
    const catalogue = createCatalogueStore({
      database,
      secrets,
      watch: revisions,
      simulatorUrl: simulator.url,
      onProblem: (problem) => alarmOf(logger, problem),
    });
    simulator.onChange = () => void catalogue.refresh().catch(() => {});
    const keys = createKeyDirectory({ database, secrets, watch: revisions });
    await catalogue.load();
    // Not waited for: until all keys are in memory each one is looked up when it comes.
    closing.push(loadInBackground(() => keys.load(), 'keys', logger));

    const counters = await createCounters({
      config,
      ...clock,
      random: Math.random,
      // What an earlier process left in the journal has been spent too.
      spent: createSpentSource({
        ready: Promise.all([journal.caughtUp, adoption.finished]),
        read: (meters) => spentOf(database.kysely, meters),
      }),
      appliedUntil: () => journal.appliedUntil,
      liveNodes: nodes.live,
      log: logger,
    });
    closing.push(() => counters.close());
    const upstream = createUpstreamClient({
      maxConnections: config.limits.inFlight,
      onDefect: (error) => logger.error('unexpected error', error),
    });
    closing.push(() => upstream.close());
    const onUnexpectedError = (error: unknown, requestId: string) =>
      logger.error('unexpected error', error, { requestId });
    const relayWatch = createWatch(clock, (error) => logger.error('unexpected error', error));
    closing.push(() => relayWatch.close());
    const health = createChannelHealth(({ channel, message }) =>
      logger.warn(`the channel ${message}`, { component: 'routing', channel }),
    );
    const metrics = createMetrics(
      {
        journal,
        openConnections: () => connectionsOf(server),
        channelStates: () =>
          catalogue.snapshot().channels.map((channel) => health.read(channel, clock.monotonic())),
        droppedLogLines: () => logger.dropped,
        liveNodes: nodes.live,
        uncaughtErrors: () => uncaught,
      },
      worker?.renderMetrics,
    );
    const tracer = createExchangeTracer((channel) => targetOf(catalogue.snapshot(), channel));
    const estimator = createTokenEstimator({
      onProblem: (error) => logger.error('the thread that counts tokens ended', error),
    });
    closing.push(() => estimator.close());
    const relay = createRelay({
      snapshot: catalogue.snapshot,
      protocols: textProtocols,
      codecs: textCodecs,
      estimator,
      converter: createConverter({
        protocols: textProtocols,
        codecs: textCodecs,
        signer: { sign: secrets.signState, verify: secrets.verifyState },
        fetchMedia: fetchGuarded(options.mediaFetch),
        now: clock.monotonic,
      }),
      upstream,
      health,
      affinity: createChannelAffinity(),
      journal,
      billing: createBilling({ counters, now: clock.now }),
      timeouts: config.timeouts,
      watch: relayWatch,
      drains: createDrainSlots(config.limits.inFlight),
      missingUsage: config.billing.missingUsage,
      clock,
      observer: createExchangeObserver(
        metrics.exchanges,
        [
          metrics.exchanges.finished,
          logger.request,
          createUsageAlarm(logger),
          ...(tracer === null ? [] : [tracer]),
        ],
        (error) => logger.error('an exchange could not be observed', error),
      ),
      random: Math.random,
      onUnexpectedError,
    });

    const pressure = watchPressure(clock.monotonic);
    closing.push(() => pressure.close());
    const admission = createAdmission({ ...config.limits, isOverloaded: () => pressure.isHigh });

    const { server: settings } = config;
    let draining = false;
    let patient = false;
    const server = createServer({
      ...settings,
      encoders: textProtocols,
      onUnexpectedError,
      isDraining: () => draining,
      isPatient: () => patient,
      ...(writeStall === undefined ? {} : { writeStall }),
    });
    registerEndpoints(server, {
      relay,
      admission,
      counters,
      usage: {
        sums: ({ by, ...filter }) => sumUsage(database.kysely, filter, by),
        spent: (meters) => spentOf(database.kysely, meters),
      },
      keys,
      snapshot: catalogue.snapshot,
      now: clock.now,
      health: () => ({
        status: draining ? 'draining' : journal.usable ? 'ok' : 'unavailable',
        degraded: [
          ...(revisions.problem === null ? [] : ['database']),
          ...degradedNodes(nodes, config.redis.url !== null),
          ...(config.redis.url !== null && counters.degraded ? ['redis'] : []),
          ...adoption.problems,
          ...(worker?.degraded() ?? []),
          ...(uncaught.exceptions > 0 ? ['an exception was caught by nobody: ending'] : []),
          ...(uncaught.rejections > 0 ? ['a promise failed that nobody waited for'] : []),
        ],
      }),
      metrics,
      metricsToken: config.metrics.token,
      onUnexpectedError,
    });
    const { host, port } = settings;
    await listenOn(settings, () => server.listen({ host, port }));

    const refresh = async (): Promise<void> => {
      await simulator.startIfWanted(database, secrets);
      await catalogue.refresh();
    };
    return {
      url: urlOf(server, config),
      dataDir,
      firstStart,
      catalogue,
      journal,
      database,
      async reload(newConfig) {
        await applyFile(newConfig, secrets);
        await refresh();
      },
      refresh,
      metrics,
      async close({ keepListening = 0 } = {}) {
        draining = true;
        patient = keepListening > 0;
        await closeServer(server, {
          watch: relayWatch,
          admission,
          drainTimeout: settings.drainTimeout,
          keepListening: Math.min(keepListening, settings.drainTimeout),
        });
        await closeAll(closing);
      },
    };
  } catch (error) {
    await closeAll(closing);
    throw error;
  }
}

/** Media that clients name by address, for upstreams that want the bytes. */
function fetchGuarded(options?: GuardedFetchOptions): FetchMedia {
  const fetchMedia = createGuardedFetch(options);
  return async (url) => {
    try {
      return await fetchMedia(url);
    } catch (error) {
      throw error instanceof FetchRefused ? new MediaRefused(error.message, error) : error;
    }
  };
}

/** Tries until it succeeds. Gives a function that stops trying. */
function loadInBackground(load: () => Promise<void>, what: string, logger: Logger): () => void {
  let timer: NodeJS.Timeout | null = null;
  let stopped = false;
  const attempt = (): void => {
    load().catch((error: unknown) => {
      if (stopped) return;
      logger.error(`the ${what} could not be loaded; trying again`, error);
      timer = setTimeout(attempt, loadRetryMs).unref();
    });
  };
  attempt();
  return () => {
    stopped = true;
    if (timer !== null) clearTimeout(timer);
  };
}

/** The demo's simulator: started when a channel needs it, at the start or after a reload. */
function createSimulatorSlot(logger: Logger) {
  let running: SimulatorProcess | null = null;
  return {
    onChange: () => {},
    url: () => running?.url() ?? null,
    async startIfWanted(database: OpenDatabase, secrets: Secrets): Promise<void> {
      if (running !== null) return;
      const channels = await listChannels(database.kysely, secrets);
      const wanted = channels.some(
        ({ provider, baseUrl, enabled }) => provider === 'simulator' && baseUrl === null && enabled,
      );
      if (wanted) running = await startSimulatorProcess(logger, () => this.onChange());
    },
    close: () => running?.close(),
  };
}

/** A price in the database that is none is an alarm: what it belongs to goes on at the last good one, or is refused. */
function alarmOf(logger: Logger, { kind, name, lastGood }: CatalogueProblem): void {
  const what = kind === 'price' ? `the price of model '${name}'` : `the multiplier of '${name}'`;
  const then = lastGood ? 'the last good one goes on' : 'its requests are refused';
  logger.error('damaged price', new Error(`${what} cannot be read: ${then}`), {
    component: 'catalogue',
  });
}

/** What the other nodes are missing, or missed by. */
function degradedNodes({ missing, live }: NodeRegistry, isShared: boolean): string[] {
  const words = missing.map(
    ({ id, journalDepth }) => `${id} is gone with ${journalDepth} usage records in its journal`,
  );
  // Each would allow the whole of every limit.
  if (live() > 1 && !isShared)
    words.push(`${live()} nodes without redis do not share their limits`);
  return words;
}

/** Where a channel's requests go; null when the catalogue has it no longer. */
function targetOf({ channels }: CatalogueSnapshot, name: string): ChannelTarget | null {
  const channel = channels.find((each) => each.name === name);
  if (channel === undefined) return null;
  const { hostname, port, protocol } = new URL(channel.baseUrl);
  const defaultPort = protocol === 'https:' ? 443 : 80;
  return { provider: channel.provider, address: hostname, port: Number(port || defaultPort) };
}

function connectionsOf({ server }: FastifyInstance): Promise<number> {
  return new Promise((resolve) => server.getConnections((_error, count) => resolve(count ?? 0)));
}

function urlOf(server: FastifyInstance, config: Config): string {
  const { port } = server.server.address() as AddressInfo;
  const { host, tls } = config.server;
  const shown = host.includes(':') ? `[${host}]` : host;
  return `${tls === null ? 'http' : 'https'}://${shown}:${port}`;
}

/** Connections that fall idle while stopping are closed this often: their clients would keep them open. */
const idleCheckMs = 100;
/** Answers that are ended at the drain time-out get so long to say so to their clients. */
const lastWordsMs = 500;

interface Drain {
  readonly watch: Watch;
  readonly admission: Admission;
  /** Milliseconds from now, both. */
  readonly drainTimeout: number;
  readonly keepListening: number;
}

/** Lets running answers end, for so long; then ends them in their protocol, and closes what is left. */
async function closeServer(server: FastifyInstance, drain: Drain): Promise<void> {
  const { watch, admission, drainTimeout, keepListening } = drain;
  const end = setTimeout(() => {
    watch.endAll();
    admission.refuseWaiting();
  }, drainTimeout);
  const cut = setTimeout(() => server.server.closeAllConnections(), drainTimeout + lastWordsMs);
  if (keepListening > 0) await wait(keepListening);
  const idle = setInterval(() => server.server.closeIdleConnections(), idleCheckMs);
  try {
    await server.close();
  } finally {
    clearInterval(idle);
    clearTimeout(end);
    clearTimeout(cut);
  }
}

/** In reverse order of making; one that fails does not keep the others open. */
async function closeAll(closing: readonly (() => Promise<void> | void)[]): Promise<void> {
  const errors: unknown[] = [];
  for (const close of closing.toReversed()) {
    try {
      await close();
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw new AggregateError(errors, 'not everything could be closed');
}
