import { AggregatorRegistry, collectDefaultMetrics, Registry } from 'prom-client';
import { createExchangeMetrics, type ExchangeMetrics } from './exchange-metrics.ts';
import { registerGatewayMetrics, type GatewayReadings } from './gateway-metrics.ts';
import { registerTaskMetrics, type TaskMetrics } from './task-metrics.ts';
import { registerTally } from './tally.ts';

/** All metrics of one gateway. */
export interface Metrics {
  readonly exchanges: ExchangeMetrics;
  readonly tasks: TaskMetrics;
  /** Counts a request that got an error before it became an exchange. `error` is a catalogue name. */
  countRefusal(error: string): void;
  readonly contentType: string;
  /** Prometheus text exposition format 0.0.4. */
  render(): Promise<string>;
  /** The metrics as plain data, for `renderTogether`. */
  collect(): Promise<readonly object[]>;
}

/** The error catalogue is far shorter. */
const maxErrors = 200;

/**
 * Adds up the collected metrics of several processes, unless a metric has another aggregator. There is no label for the
 * process: it would multiply every series, and a scrape reaches an arbitrary process.
 */
export function renderTogether(collectedMetrics: readonly (readonly object[])[]): Promise<string> {
  return AggregatorRegistry.aggregate(collectedMetrics.flat()).metrics();
}

/** @param renderAll renders the metrics of all processes that are scraped as one; null: only those of this process */
export function createMetrics(
  readings: GatewayReadings,
  renderAll: () => Promise<string | null> = async () => null,
): Metrics {
  const registry = new Registry();
  const exchanges = createExchangeMetrics(registry);
  registerGatewayMetrics(registry, readings);
  const tasks = registerTaskMetrics(registry, readings.tasks);
  const refusals = registerTally(registry, {
    name: 'sluice_refusals_total',
    help: 'Requests answered with an error before their model was known: credentials, paths, bodies.',
    labelNames: ['error'],
    limit: maxErrors,
  });

  return {
    exchanges,
    tasks,
    countRefusal: (error) => refusals.add(error, () => ({ error })),
    contentType: registry.contentType,
    async render() {
      const all = await renderAll();
      if (all !== null) return all;
      const own = await registry.metrics();
      return own + (await processRegistry().metrics());
    },
    collect: async () => [
      await registry.getMetricsAsJSON(),
      await processRegistry().getMetricsAsJSON(),
    ],
  };
}

let defaultRegistry: Registry | null = null;

/** Gauges with the suffix of counters, which Prometheus's own check flags. Their parts are there: `sum` adds them up. */
const misnamedTotals = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

/**
 * CPU, memory, event-loop lag and garbage collection of the process. Watching the loop and the collections has a cost,
 * so it begins with the first scrape.
 */
function processRegistry(): Registry {
  if (defaultRegistry === null) {
    defaultRegistry = new Registry();
    collectDefaultMetrics({ register: defaultRegistry, eventLoopMonitoringPrecision: 20 });
    for (const name of misnamedTotals) defaultRegistry.removeSingleMetric(name);
  }
  return defaultRegistry;
}
