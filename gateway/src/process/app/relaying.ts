import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { createBilling } from '#billing/index.ts';
import type { BodyMemory, Spool } from '#bodies/index.ts';
import { createBodyPool, largestAnswer, type Weights } from '#body-work/index.ts';
import type { CatalogueSnapshot } from '#catalogue/index.ts';
import type { Config } from '#config/index.ts';
import { createConverter, createStateSealer } from '#conversion/index.ts';
import type { Money } from '#limits/index.ts';
import { parseUsd, type RevisionWatch, type Secrets } from '#database/index.ts';
import { createTokenEstimator } from '#estimation/index.ts';
import type { CondensedJournal } from '#journal/index.ts';
import type { ExchangeObserver, Logger } from '#observability/index.ts';
import { textCodecs, textProtocols, videoProtocols } from '#protocols/index.ts';
import {
  type ChannelTrial,
  createChannelTrial,
  createDrainSlots,
  createModelSearch,
  createRelay,
  createTicker,
  type ModelSearch,
  type Relay,
  type Ticker,
  type TrialParts,
} from '#relay/index.ts';
import { createChannelAffinity, type ChannelHealth } from '#routing/index.ts';
import {
  createGuardedFetch,
  createProxies,
  createUpstreamClient,
  type ConnectionStep,
  type GuardedFetchOptions,
} from '#upstream/index.ts';
import { createResults } from '#results/index.ts';
import { createTasks, type Tasks } from '#tasks/index.ts';
import { createStateDirectory } from '#upstream-state/index.ts';
import type { ExchangeRecord } from '#usage/index.ts';
import type { Storage } from './storage.ts';
import { clock } from './clock.ts';
import type { Closing } from './closing.ts';
import type { ConversationMemory } from './remembering.ts';

export interface RelayingOptions extends Pick<
  Storage,
  'database' | 'breaker' | 'nodeId' | 'nodes'
> {
  readonly config: Config;
  readonly logger: Logger;
  readonly remembered: ConversationMemory;
  readonly secrets: Secrets;
  readonly snapshot: () => CatalogueSnapshot;
  /** Of the simulator that runs here; null: none does. */
  readonly simulatorUrl: () => string | null;
  readonly health: ChannelHealth;
  readonly journal: Pick<CondensedJournal, 'append' | 'begin' | 'usable' | 'unpaidFor'>;
  readonly revisions: Pick<RevisionWatch, 'isOutdated'>;
  readonly money: Money;
  readonly observer: ExchangeObserver;
  readonly taskEnded: (record: ExchangeRecord) => void;
  readonly onUnexpectedError: (error: unknown, requestId: string) => void;
  readonly mediaFetch: GuardedFetchOptions | undefined;
  readonly bodyWeights: Weights | undefined;
  /** Of this process. */
  readonly bodyMemory: BodyMemory;
  readonly spool: Spool;
}

export type TrialPartsOptions = Pick<
  RelayingOptions,
  | 'bodyWeights'
  | 'breaker'
  | 'config'
  | 'database'
  | 'logger'
  | 'mediaFetch'
  | 'money'
  | 'onUnexpectedError'
  | 'remembered'
  | 'revisions'
  | 'secrets'
  | 'spool'
>;

export interface Relaying {
  readonly relay: Relay;
  /** For people who want to know whether a channel works, and what it has. */
  readonly trials: { readonly tryChannel: ChannelTrial; readonly findModels: ModelSearch };
  /** Calls all running exchanges, and ends them when the gateway stops. */
  readonly ticker: Ticker;
  /** Follows the tasks of every process. */
  readonly tasks: Tasks;
}

/** Creates the relay and everything it needs towards the upstreams. */
export function createRelaying(options: RelayingOptions, closing: Closing): Relaying {
  const { config, logger, secrets, snapshot, health, journal, observer } = options;
  const onDefect = (error: unknown) => logger.error('unexpected error', error);
  const proxies = createProxies(config.proxies);
  const upstream = closing.add(
    createUpstreamClient({ maxConnections: config.limits.inFlight, onDefect, proxies }),
  );
  const shared = createTrialParts(options, closing);
  const { billing, fetchMedia, ticker } = shared;
  const { publicUrl } = config.server;
  const tasks = closing.add(
    createTasks({
      results:
        config.video.keepResults && publicUrl !== null
          ? createResults({
              settings: config.video,
              publicUrl,
              database: options.database,
              owner: options.nodeId,
              secrets,
              clock,
              log: logger,
              snapshot,
              fetchMedia,
              proxies,
            })
          : null,
      database: options.database,
      nodeId: options.nodeId,
      liveNodes: options.nodes.live,
      billing,
      secrets,
      upstream,
      clock,
      settings: {
        pollInterval: config.video.pollInterval,
        expireAfter: config.video.expireAfter,
        missingUsage: config.billing.missingUsage,
      },
      timeouts: config.timeouts,
      snapshot,
      log: logger,
      onEnded: options.taskEnded,
    }),
  );
  return {
    relay: createRelay({
      ...shared,
      snapshot,
      tasks,
      upstream,
      health,
      affinity: createChannelAffinity(),
      journal,
      keepsErrorTexts: config.retention.errorTexts > 0,
      observer,
    }),
    trials: createTrials(options, shared),
    ticker,
    tasks,
  };
}

/** For people who want to know whether a channel works, and what it has. */
export function createTrials(
  { config, logger, simulatorUrl }: Pick<RelayingOptions, 'config' | 'logger' | 'simulatorUrl'>,
  parts: TrialParts,
): Relaying['trials'] {
  const proxies = createProxies(config.proxies);
  const onDefect = (error: unknown) => logger.error('unexpected error', error);
  const trial = {
    connect: (onStep: (step: ConnectionStep) => void) =>
      createUpstreamClient({ maxConnections: 1, onDefect, proxies, onStep }),
    simulatorUrl,
  };
  return {
    tryChannel: createChannelTrial({ ...trial, parts }),
    findModels: createModelSearch({ ...trial, timeouts: config.timeouts }),
  };
}

/** What the relay of clients and those of trials share. */
export function createTrialParts(options: TrialPartsOptions, closing: Closing): TrialParts {
  const { config, logger, secrets, money } = options;
  const onDefect = (error: unknown) => logger.error('unexpected error', error);
  const ticker = closing.add(createTicker(clock, onDefect));
  const estimator = closing.add(
    createTokenEstimator({
      onProblem: (error) => logger.error('the tokenizer thread exited', error),
    }),
  );
  const store = options.remembered.states;
  const bodies = closing.add(
    createBodyPool({
      size: Math.max(1, availableParallelism() - 1),
      heap: heapFor(Math.max(config.server.bodyLimit, largestAnswer)),
      stateKey: secrets.stateKey,
      store,
      ...(options.bodyWeights !== undefined && { weights: options.bodyWeights }),
      onProblem: (error) => logger.error('a large-body thread exited', error),
    }),
  );
  const converter = createConverter({
    protocols: textProtocols,
    codecs: textCodecs,
    sealer: createStateSealer(secrets.stateKey, randomBytes),
    store,
  });
  return {
    protocols: textProtocols,
    codecs: textCodecs,
    videos: videoProtocols,
    checksAudio: config.video.checkAudio,
    estimator,
    converter,
    items: options.remembered.items,
    bodies,
    spool: options.spool,
    upstreamState: createStateDirectory({ ...options, ...clock }),
    keepStateFor: config.retention.upstreamState,
    onRefusedState: ({ requestId, channel, kind, digest }) =>
      logger.info(`refused a ${kind} id that is not known to belong to the caller`, {
        component: 'upstream-state',
        requestId,
        channel,
        detail: digest,
      }),
    revisions: options.revisions,
    billing: createBilling({ money, now: clock.now }),
    timeouts: config.timeouts,
    ticker,
    drains: createDrainSlots(config.limits.inFlight),
    missingUsage: config.billing.missingUsage,
    capOutput: config.billing.capOutput,
    overshoot: parseUsd(config.billing.overshoot),
    fetchMedia: createGuardedFetch({
      proxies: createProxies(config.proxies),
      ...options.mediaFetch,
    }),
    clock,
    random: Math.random,
    digestBody: secrets.digestBody,
    onUnexpectedError: options.onUnexpectedError,
  };
}

/**
 * Heap limit in MiB of a thread for bodies up to this limit: ten times the bytes, plus what a single step of the engine
 * takes, which cannot be interrupted.
 */
function heapFor(bodyLimit: number): number {
  return 256 + Math.ceil((bodyLimit / 2 ** 20) * 10);
}
