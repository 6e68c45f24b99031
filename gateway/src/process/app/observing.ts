import { resolveModel, type CatalogueSnapshot } from '#catalogue/index.ts';
import type { BodyMemory, Spool } from '#bodies/index.ts';
import {
  createExchangeTracer,
  createMetrics,
  type ChannelTarget,
  type ExchangeFacts,
  type ExchangeObserver,
  type Logger,
  type Metrics,
  type OpenedExchange,
  type ServerReadings,
  type TaskReadings,
  type Tracing,
  type UncaughtErrors,
} from '#observability/index.ts';
import type { Money } from '#limits/index.ts';
import type { ChannelHealth } from '#routing/index.ts';
import { clock } from './clock.ts';
import type { Storage } from './storage.ts';

export interface ObservingOptions extends Pick<Storage, 'journal' | 'nodes'> {
  readonly logger: Logger;
  readonly snapshot: () => CatalogueSnapshot;
  readonly health: ChannelHealth;
  readonly uncaught: UncaughtErrors;
  readonly bodyMemory: BodyMemory;
  readonly spool: Spool;
  readonly money: Pick<Money, 'unleasedAmount'>;
  readonly server: () => ServerReadings;
  readonly tasks: () => TaskReadings;
  readonly degraded: () => readonly string[];
  readonly tracer: Tracing['tracer'];
  /** Hears of requests that go to their upstreams. Optional. */
  readonly onOpened?: ((exchange: OpenedExchange) => void) | undefined;
  /** The metrics of several processes; null or absent: only those of this one. */
  readonly renderMetrics: (() => Promise<string | null>) | undefined;
}

export interface Observing {
  readonly metrics: Metrics;
  readonly observer: ExchangeObserver;
  /** Counts and logs a task that has ended. */
  readonly taskEnded: (record: ExchangeFacts) => void;
}

/** Creates the listeners of finished exchanges: metrics, log, alarm, and traces if enabled. */
export function createObserving(options: ObservingOptions): Observing {
  const { logger, snapshot, health, journal, nodes, uncaught, server, degraded, tracer } = options;
  const metrics = createMetrics(
    {
      journal,
      bodyMemory: options.bodyMemory,
      spool: options.spool,
      server,
      tasks: options.tasks,
      channelStates: () =>
        snapshot().channels.map((channel) => health.read(channel, clock.monotonic())),
      droppedLogLines: () => logger.droppedLines,
      liveNodes: nodes.live,
      freedLeases: () => nodes.freed.reduce((sum, { amount }) => sum + Number(amount) / 1e9, 0),
      unleased: () => Number(options.money.unleasedAmount) / 1e9,
      uncaughtErrors: () => uncaught,
      degraded,
    },
    options.renderMetrics,
  );
  const { exchanges } = metrics;
  const listeners: readonly ExchangeObserver['finished'][] = [
    exchanges.finished,
    logger.request,
    ({ record }) => {
      if (record.usageSource === 'quarantined') warnOfUsage(logger, record);
    },
    ...(tracer === null
      ? []
      : [createExchangeTracer(tracer, (channel) => targetOf(snapshot(), channel))]),
  ];
  const observer: ExchangeObserver = {
    opened(kind, exchange) {
      exchanges.opened(kind);
      options.onOpened?.(exchange);
    },
    closed: exchanges.closed,
    finished(exchange) {
      for (const listener of listeners) {
        // An error of one affects no other.
        try {
          listener(exchange);
        } catch (error) {
          logger.error('could not report a finished exchange', error);
        }
      }
    },
  };
  const taskEnded: Observing['taskEnded'] = (record) => {
    metrics.tasks.ended(record);
    const { id, channel, outcome, error, usageSource, charge, model } = record;
    exchanges.charged(resolveModel(snapshot(), model)?.model.id ?? null, charge);
    logger.info(`a video task ended: ${error ?? outcome}`, {
      component: 'tasks',
      requestId: id,
      ...(channel !== null && { channel }),
      detail: usageSource,
    });
  };
  return { metrics, observer, taskEnded };
}

/** Implausible usage: the charge was bounded by the hold; the operator should look at that upstream. */
function warnOfUsage(logger: Logger, { id, channel }: ExchangeFacts): void {
  logger.warn('the upstream reported implausible usage', {
    component: 'billing',
    requestId: id,
    ...(channel !== null && { channel }),
  });
}

/** The address of a channel; null if the catalogue no longer has it. */
function targetOf({ channels }: CatalogueSnapshot, name: string): ChannelTarget | null {
  const channel = channels.find((each) => each.name === name);
  if (channel === undefined) return null;
  const { hostname, port, protocol } = new URL(channel.baseUrl);
  const defaultPort = protocol === 'https:' ? 443 : 80;
  return { provider: channel.provider, address: hostname, port: Number(port || defaultPort) };
}
