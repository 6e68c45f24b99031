import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { ExchangeFacts, ExchangeKind, FinishedExchange, TokenFacts } from '../exchange.ts';
import { createTally } from './tally.ts';

export interface ExchangeMetrics {
  opened(kind: ExchangeKind): void;
  closed(kind: ExchangeKind): void;
  finished(exchange: FinishedExchange): void;
}

/** Seconds. From a cached short answer to the total time-out. */
const durationBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800];
const firstTokenBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2, 3, 5, 10, 20, 30, 60, 120];

/** Names come from the catalogue, so an operator decides how many there are; beyond these they are one. */
const maxModels = 1_000;
const maxCombinations = 10_000;

/** The label of whatever the catalogue does not know. */
export const otherModel = 'other';

const tokenKinds = [
  ['input', 'input'],
  ['cacheRead', 'cache_read'],
  ['cacheWrite', 'cache_write'],
  ['cacheWrite1h', 'cache_write_1h'],
  ['output', 'output'],
  ['reasoning', 'reasoning'],
] as const satisfies readonly (readonly [keyof TokenFacts, string])[];

interface ModelSeries {
  readonly model: string;
  readonly tokens: Record<keyof TokenFacts, number>;
  readonly durations: Readonly<Record<ExchangeKind, { observe(seconds: number): void }>>;
  readonly firstToken: { observe(seconds: number): void };
}

/**
 * What is counted of exchanges. Labels come from the catalogue and from words of ours, never from what a client or
 * an upstream sends. Runs for every exchange: one look-up per series, no label is formatted.
 */
export function createExchangeMetrics(registry: Registry): ExchangeMetrics {
  const registers = [registry];
  const requests = createTally<'protocol' | 'operation' | 'model' | 'outcome' | 'status_class'>(
    maxCombinations,
    {
      protocol: otherModel,
      operation: otherModel,
      model: otherModel,
      outcome: otherModel,
      status_class: otherModel,
    },
  );
  const attempts = createTally<'channel' | 'result'>(maxCombinations, {
    channel: otherModel,
    result: otherModel,
  });
  const usageSources = createTally<'source'>(maxCombinations, { source: otherModel });
  const failovers = createTally<'channel'>(maxCombinations, { channel: otherModel });
  const models = new Map<string, ModelSeries>();
  const open: Record<ExchangeKind, number> = { buffered: 0, stream: 0 };

  new Counter({
    name: 'sluice_requests_total',
    help: 'Finished requests to models, refused ones included.',
    labelNames: ['protocol', 'operation', 'model', 'outcome', 'status_class'],
    registers,
    collect() {
      this.reset();
      for (const { labels, count } of requests.counts) this.inc(labels, count);
    },
  });
  new Counter({
    name: 'sluice_attempts_total',
    help: 'Calls to upstreams, by how they ended.',
    labelNames: ['channel', 'result'],
    registers,
    collect() {
      this.reset();
      for (const { labels, count } of attempts.counts) this.inc(labels, count);
    },
  });
  new Counter({
    name: 'sluice_failovers_total',
    help: 'Attempts that failed and were followed by one on another channel, by the channel that failed.',
    labelNames: ['channel'],
    registers,
    collect() {
      this.reset();
      for (const { labels, count } of failovers.counts) this.inc(labels, count);
    },
  });
  new Counter({
    name: 'sluice_tokens_total',
    help: 'Tokens by kind. The kinds are disjoint, except reasoning, which is part of output.',
    labelNames: ['model', 'kind'],
    registers,
    collect() {
      this.reset();
      for (const { model, tokens } of models.values()) {
        for (const [member, kind] of tokenKinds) this.inc({ model, kind }, tokens[member]);
      }
    },
  });
  new Counter({
    name: 'sluice_usage_total',
    help: 'Answers by where their counts come from; quarantined are counts that cannot be true.',
    labelNames: ['source'],
    registers,
    collect() {
      this.reset();
      for (const { labels, count } of usageSources.counts) this.inc(labels, count);
    },
  });
  const duration = new Histogram({
    name: 'sluice_request_duration_seconds',
    help: 'From the arrival of an answered or failed generation to its end.',
    labelNames: ['model', 'stream'],
    buckets: durationBuckets,
    registers,
  });
  const firstToken = new Histogram({
    name: 'sluice_time_to_first_token_seconds',
    help: 'From the arrival of a streamed generation to its first content.',
    labelNames: ['model'],
    buckets: firstTokenBuckets,
    registers,
  });
  new Gauge({
    name: 'sluice_open_exchanges',
    help: 'Requests that are with their upstreams now.',
    labelNames: ['kind'],
    registers,
    collect() {
      this.set({ kind: 'buffered' }, open.buffered);
      this.set({ kind: 'stream' }, open.stream);
    },
  });

  const createSeries = (model: string): ModelSeries => ({
    model,
    tokens: { input: 0, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0, output: 0, reasoning: 0 },
    durations: {
      buffered: duration.labels(model, 'false'),
      stream: duration.labels(model, 'true'),
    },
    firstToken: firstToken.labels(model),
  });
  const seriesOf = (modelId: string | null): ModelSeries => {
    const name = modelId ?? otherModel;
    let series = models.get(name);
    if (series !== undefined) return series;
    if (models.size >= maxModels && name !== otherModel) return seriesOf(null);
    models.set(name, (series = createSeries(name)));
    return series;
  };

  function countRequest(record: ExchangeFacts, model: string): void {
    const { protocol, operation, outcome } = record;
    const statusClass = classOf(record.status);
    requests.add(`${protocol} ${operation} ${outcome} ${statusClass} ${model}`, () => ({
      protocol,
      operation,
      model,
      outcome,
      status_class: statusClass,
    }));
  }

  function countAttempts(list: ExchangeFacts['attempts']): void {
    for (let index = 0; index < list.length; index += 1) {
      const { channel, result } = list[index]!;
      attempts.add(`${result} ${channel}`, () => ({ channel, result }));
      const next = list[index + 1];
      // Once more on the same channel, after a stale connection, is not a failover.
      if (next !== undefined && next.channel !== channel) {
        failovers.add(channel, () => ({ channel }));
      }
    }
  }

  return {
    opened(kind) {
      open[kind] += 1;
    },
    closed(kind) {
      open[kind] -= 1;
    },
    finished({ record, modelId }) {
      const series = seriesOf(modelId);
      countRequest(record, series.model);
      countAttempts(record.attempts);
      if (record.operation !== 'generate' || record.outcome === 'refused') return;
      usageSources.add(record.usageSource, () => ({ source: record.usageSource }));
      addTokens(series.tokens, record.tokens);
      series.durations[record.stream ? 'stream' : 'buffered'].observe(record.durationMs / 1000);
      if (record.stream && record.ttftMs !== null) {
        series.firstToken.observe(record.ttftMs / 1000);
      }
    },
  };
}

function addTokens(sum: Record<keyof TokenFacts, number>, tokens: TokenFacts): void {
  sum.input += tokens.input;
  sum.cacheRead += tokens.cacheRead;
  sum.cacheWrite += tokens.cacheWrite;
  sum.cacheWrite1h += tokens.cacheWrite1h;
  sum.output += tokens.output;
  sum.reasoning += tokens.reasoning;
}

const classes = ['other', '1xx', '2xx', '3xx', '4xx', '5xx'];

function classOf(status: number): string {
  return classes[Math.floor(status / 100)] ?? 'other';
}
