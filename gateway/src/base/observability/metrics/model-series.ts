import { Counter, Histogram, type Registry } from 'prom-client';
import type { ExchangeKind, ImageFacts, TokenFacts } from '../exchange.ts';

/** Counts and times of one model's generations. */
export interface ModelSeries {
  /** Its label. */
  readonly model: string;
  readonly tokens: Record<keyof TokenFacts, number>;
  readonly images: Record<keyof ImageFacts, number>;
  /** USD. */
  charged: number;
  readonly durations: Readonly<Record<ExchangeKind, { observe(seconds: number): void }>>;
  readonly firstToken: { observe(seconds: number): void };
}

/** Seconds: from a cached short response to the total time-out. */
const durationBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800];
const firstTokenBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2, 3, 5, 10, 20, 30, 60, 120];

/** Models come from the catalogue, so the operator decides their number. Further models share one series. */
const maxModels = 1_000;

/** The label of models that are not in the catalogue. */
const otherModel = 'other';

const tokenKinds = [
  ['input', 'input'],
  ['cacheRead', 'cache_read'],
  ['cacheWrite', 'cache_write'],
  ['cacheWrite1h', 'cache_write_1h'],
  ['output', 'output'],
  ['reasoning', 'reasoning'],
] as const satisfies readonly (readonly [keyof TokenFacts, string])[];

/** Returns the series of a model id; null is for models that are not in the catalogue. */
export function registerModelSeries(registry: Registry): (modelId: string | null) => ModelSeries {
  const registers = [registry];
  const models = new Map<string, ModelSeries>();
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
    name: 'sluice_images_total',
    help: 'Pictures by kind: images, and the layers into which some were divided.',
    labelNames: ['model', 'kind'],
    registers,
    collect() {
      this.reset();
      for (const { model, images } of models.values()) {
        for (const kind of ['images', 'layers'] as const) {
          if (images[kind] > 0) this.inc({ model, kind }, images[kind]);
        }
      }
    },
  });
  new Counter({
    name: 'sluice_charged_usd_total',
    help: 'USD charged to balances and budgets, videos included.',
    labelNames: ['model'],
    registers,
    collect() {
      this.reset();
      for (const { model, charged } of models.values()) this.inc({ model }, charged);
    },
  });
  const duration = new Histogram({
    name: 'sluice_request_duration_seconds',
    help: 'Time from the arrival of an answered or failed generation to its end.',
    labelNames: ['model', 'stream'],
    buckets: durationBuckets,
    registers,
  });
  const firstToken = new Histogram({
    name: 'sluice_time_to_first_token_seconds',
    help: 'Time from the arrival of a streamed generation to its first content.',
    labelNames: ['model'],
    buckets: firstTokenBuckets,
    registers,
  });

  const createSeries = (model: string): ModelSeries => ({
    model,
    tokens: { input: 0, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0, output: 0, reasoning: 0 },
    images: { images: 0, layers: 0 },
    charged: 0,
    durations: {
      buffered: duration.labels(model, 'false'),
      stream: duration.labels(model, 'true'),
    },
    firstToken: firstToken.labels(model),
  });
  return function seriesOf(modelId) {
    const name = modelId ?? otherModel;
    let series = models.get(name);
    if (series !== undefined) return series;
    if (models.size >= maxModels && name !== otherModel) return seriesOf(null);
    models.set(name, (series = createSeries(name)));
    return series;
  };
}
