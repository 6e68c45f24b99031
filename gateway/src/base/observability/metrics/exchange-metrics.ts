import { Gauge, type Registry } from 'prom-client';
import type { ExchangeFacts, ExchangeKind, FinishedExchange, TokenFacts } from '../exchange.ts';
import { registerModelSeries, type ModelSeries } from './model-series.ts';
import { registerTally } from './tally.ts';

export interface ExchangeMetrics {
  opened(kind: ExchangeKind): void;
  closed(kind: ExchangeKind): void;
  finished(exchange: FinishedExchange): void;
  /** Adds what a video task was charged for. `modelId` is null for a model that is not in the catalogue any more. */
  charged(modelId: string | null, charge: ExchangeFacts['charge']): void;
}

/**
 * Label values come from the catalogue, so the operator decides their number. Further combinations share one series.
 */
const maxCombinations = 10_000;

/**
 * Counts exchanges. Labels come from the catalogue and from fixed words of the gateway, never from a client or an
 * upstream. Runs for every exchange: one look-up per series, no label formatting.
 */
export function createExchangeMetrics(registry: Registry): ExchangeMetrics {
  const seriesOf = registerModelSeries(registry);
  const openCounts = registerOpenExchanges(registry);
  const countRequest = registerRequests(registry);
  const countAttempts = registerAttempts(registry);
  const usageSources = registerTally(registry, {
    name: 'sluice_usage_total',
    help: 'Responses by the source of their token counts; quarantined counts are implausible.',
    labelNames: ['source'],
    limit: maxCombinations,
  });

  // From zero: an increase is seen only between two scrapes of a series.
  for (const source of ['reported', 'estimated', 'quarantined', 'none']) {
    usageSources.add(source, () => ({ source }), 0);
  }
  const countUnpriced = registerUnpriced(registry);
  const countUnread = registerUnread(registry);

  return {
    opened(kind) {
      openCounts[kind] += 1;
    },
    closed(kind) {
      openCounts[kind] -= 1;
    },
    finished({ record, modelId }) {
      const series = seriesOf(modelId);
      countRequest(record, series.model);
      countAttempts(record.attempts);
      // A count of tokens uses none itself.
      if (record.operation === 'count-tokens' || record.outcome === 'refused') return;
      usageSources.add(record.usageSource, () => ({ source: record.usageSource }));
      if (record.charge !== null) {
        countUnpriced(record.charge.receipt, series.model);
        addCharge(series, record.charge);
      }
      if (record.usageUnread !== undefined) countUnread(record.usageUnread, series.model);
      addTokens(series.tokens, record.tokens);
      series.images.images += record.units?.images ?? 0;
      series.images.layers += record.units?.layers ?? 0;
      series.durations[record.stream ? 'stream' : 'buffered'].observe(record.durationMs / 1000);
      if (record.stream && record.ttftMs !== null) {
        series.firstToken.observe(record.ttftMs / 1000);
      }
    },
    charged(modelId, charge) {
      if (charge !== null) addCharge(seriesOf(modelId), charge);
    },
  };
}

/** The numbers behind the gauge; callers change them as exchanges open and close. */
function registerOpenExchanges(registry: Registry): Record<ExchangeKind, number> {
  const openCounts = { buffered: 0, stream: 0 };
  new Gauge({
    name: 'sluice_open_exchanges',
    help: 'Requests in flight to upstreams.',
    labelNames: ['kind'],
    registers: [registry],
    collect() {
      this.set({ kind: 'buffered' }, openCounts.buffered);
      this.set({ kind: 'stream' }, openCounts.stream);
    },
  });
  return openCounts;
}

const statusClasses = ['other', '1xx', '2xx', '3xx', '4xx', '5xx'];

function registerRequests(registry: Registry) {
  const requests = registerTally(registry, {
    name: 'sluice_requests_total',
    help: 'Finished model requests, including refused ones.',
    labelNames: ['protocol', 'operation', 'model', 'outcome', 'status_class'],
    limit: maxCombinations,
  });
  return function countRequest(record: ExchangeFacts, model: string): void {
    const { protocol, operation, outcome } = record;
    const statusClass = statusClasses[Math.floor(record.status / 100)] ?? 'other';
    requests.add(`${protocol} ${operation} ${outcome} ${statusClass} ${model}`, () => ({
      protocol,
      operation,
      model,
      outcome,
      status_class: statusClass,
    }));
  };
}

function registerAttempts(registry: Registry) {
  const attempts = registerTally(registry, {
    name: 'sluice_attempts_total',
    help: 'Upstream calls by result.',
    labelNames: ['channel', 'result'],
    limit: maxCombinations,
  });
  const failovers = registerTally(registry, {
    name: 'sluice_failovers_total',
    help: 'Failed attempts that were followed by an attempt on another channel, by failed channel.',
    labelNames: ['channel'],
    limit: maxCombinations,
  });
  return function countAttempts(list: ExchangeFacts['attempts']): void {
    for (let index = 0; index < list.length; index += 1) {
      const { channel, result: resultName } = list[index]!;
      // The word of an ending is the upstream's, so it is not a label.
      const result = resultName.startsWith('ending=') ? 'ending' : resultName;
      attempts.add(`${result} ${channel}`, () => ({ channel, result }));
      const next = list[index + 1];
      // A retry on the same channel, after a stale connection, is not a failover.
      if (next !== undefined && next.channel !== channel) {
        failovers.add(channel, () => ({ channel }));
      }
    }
  };
}

const unpricedPrefix = 'unpriced.';

function registerUnpriced(registry: Registry) {
  const uses = registerTally(registry, {
    name: 'sluice_unpriced_uses_total',
    help: 'Responses with a search, a surcharge or audio that their model has no price for, by use.',
    labelNames: ['model', 'use'],
    limit: maxCombinations,
  });
  return function countUnpriced(
    receipt: readonly { readonly part: string }[],
    model: string,
  ): void {
    for (const { part } of receipt) {
      if (!part.startsWith(unpricedPrefix)) continue;
      // The value of a surcharge is the upstream's word, so it is not a label.
      const [use = ''] = part.slice(unpricedPrefix.length).split('.');
      uses.add(`${use} ${model}`, () => ({ model, use }));
    }
  };
}

/** The paths are the upstreams' words, so few combinations have series of their own. */
const maxUnread = 200;

function registerUnread(registry: Registry) {
  const unreadPaths = registerTally(registry, {
    name: 'sluice_unread_usage_total',
    help: 'Responses with a counter or an ending that the gateway does not know, by its path.',
    labelNames: ['model', 'path'],
    limit: maxUnread,
  });
  return function countUnread(paths: readonly string[], model: string): void {
    for (const path of paths) unreadPaths.add(`${path} ${model}`, () => ({ model, path }));
  };
}

/** Sums for a chart: the books hold the exact ones. */
function addCharge(series: ModelSeries, { cost }: NonNullable<ExchangeFacts['charge']>): void {
  series.charged += Number(cost) / 1e9;
}

function addTokens(sum: Record<keyof TokenFacts, number>, tokens: TokenFacts): void {
  sum.input += tokens.input;
  sum.cacheRead += tokens.cacheRead;
  sum.cacheWrite += tokens.cacheWrite;
  sum.cacheWrite1h += tokens.cacheWrite1h;
  sum.output += tokens.output;
  sum.reasoning += tokens.reasoning;
}
