import { parseMultiplier, ratesOf, receiptOf, tokenLines } from '#billing/index.ts';
import { noTokens, type ProtocolName, type TokenUsage } from '#canonical/index.ts';
import type { Model } from '#catalogue/index.ts';
import { createRequestId } from '#http/request-id.ts';
import type { TestGateway } from '#test/support/gateway.ts';
import { seededRandom } from '#test/support/seeded-random.ts';
import type { AttemptClass, AttemptRecord, ExchangeRecord } from '#usage/index.ts';

interface Habit {
  readonly key: string;
  readonly userAgent: string;
  readonly model: string;
  readonly protocol: ProtocolName;
  readonly channel: string;
  /** How often, relative to the others. */
  readonly weight: number;
  /** Usual tokens: of the input, the part of it that is cached, of the output. */
  readonly tokens: readonly [input: number, cached: number, output: number];
}

const claude = 'claude-cli/2.1.0 (external, cli)';
const openai = 'OpenAI/Python 2.9.0';
const habits: readonly Habit[] = [
  habit('laptop', claude, 'claude-sonnet-5', 'messages', 'anthropic-main', 30, [61_000, 0.94, 480]),
  habit('coding', claude, 'claude-opus-4-8', 'messages', 'anthropic-main', 9, [94_000, 0.95, 700]),
  habit('coding', claude, 'claude-haiku-4-5', 'messages', 'anthropic-main', 18, [1_800, 0, 20]),
  habit('coding', 'codex_cli_rs/0.80', 'gpt-5', 'responses', 'openai-main', 20, [34_000, 0.9, 610]),
  habit('ci', openai, 'gpt-5-mini', 'chat', 'openai-main', 34, [720, 0, 26]),
  habit('ci', openai, 'gpt-5', 'chat', 'openai-main', 6, [2_100, 0.3, 380]),
  habit(
    'webui',
    'Open-WebUI/0.7',
    'gemini-2.5-flash',
    'chat',
    'gemini-main',
    16,
    [3_000, 0.5, 420],
  ),
  habit(
    'search-index',
    openai,
    'text-embedding-3-large',
    'embeddings',
    'openai-main',
    24,
    [1_700, 0, 0],
  ),
  habit('laptop', 'opencode/1.4.2', 'qwen3-coder', 'chat', 'vllm-own', 14, [9_400, 0.6, 500]),
  habit('webui', 'Open-WebUI/0.7', 'llama-fast', 'chat', 'vllm-own', 9, [1_200, 0, 240]),
];

const hour = 3_600_000;
/** Requests of an ordinary hour at noon in a small house. */
const busiest = 32;
/** Records that wait for the journal together. */
const batch = 5_000;
/** A Thursday's afternoon: the last day is a working day with a busy morning, whenever the past is drawn. */
const drawnUntil = Date.UTC(2026, 5, 18, 15, 40);

/** Who sends the requests, and for which models. */
export interface Cast {
  readonly keys: ReadonlyMap<
    string,
    { readonly id: string; readonly user_id: string; readonly team_id: string | null }
  >;
  readonly models: ReadonlyMap<string, Pick<Model, 'price' | 'priceVersion'>>;
}

/**
 * A past for the gateway, as records that the journal takes like any others.
 * @param times as many requests as a small house has
 */
export async function recordHistory(gateway: TestGateway, weeks = 6, times = 1): Promise<void> {
  const keys = await gateway.app.database.kysely.selectFrom('keys').selectAll().execute();
  const cast = {
    keys: new Map(keys.map((key) => [key.name, key])),
    models: gateway.app.catalogue.snapshot().models,
  };
  const end = Date.now() - 120_000;
  const records = drawHistory(cast, end, weeks, busiest * times);
  for (let at = 0; at < records.length; at += batch) {
    const next = records.slice(at, at + batch);
    await Promise.all(next.map((record) => gateway.app.journal.append(record)));
    await gateway.usage(1);
  }
}

/**
 * Weeks of requests, more on working days and around noon. Days and hours are those of a fixed time and only moved to
 * `end`, so that at every hour of every day the same rows are drawn. Every charge is made by the gateway's own rules.
 *
 * @param end Unix milliseconds: nothing is later
 * @param atNoon requests of an ordinary hour
 */
export function drawHistory(
  { keys, models }: Cast,
  end: number,
  weeks: number,
  atNoon = busiest,
): ExchangeRecord[] {
  const random = seededRandom(7);
  const between = (low: number, high: number) => low + random() * (high - low);
  const drawn = habits.flatMap((each) => Array.from({ length: each.weight }, () => each));
  const records: ExchangeRecord[] = [];
  const length = weeks * 7 * 24 * hour;
  for (let ago = length; ago > 0; ago -= hour) {
    const time = new Date(drawnUntil - ago);
    const isFree = time.getUTCDay() % 6 === 0;
    const noon = Math.max(0.12, Math.sin(((time.getUTCHours() - 5) / 16) * Math.PI));
    const growth = 1 - 0.4 * (ago / length);
    const count = Math.round(atNoon * noon * growth * (isFree ? 0.3 : 1) * between(0.6, 1.4));
    for (let n = 0; n < count; n += 1) {
      const chosen = drawn[Math.floor(random() * drawn.length)] as Habit;
      records.push(recordOf(chosen, end - ago + Math.floor(random() * hour)));
    }
  }
  // The pages show one of each, which chance may leave out of the newest.
  records.push(recordOf(habitOf('claude-sonnet-5'), end - hour / 4, luckOf.retried));
  records.push(quarantined(end - hour / 6));
  return records;

  function recordOf(chosen: Habit, time: number, luck = random()): ExchangeRecord {
    const key = keys.get(chosen.key);
    const model = models.get(chosen.model);
    if (key === undefined || model === undefined)
      throw new Error(`no ${chosen.key}, ${chosen.model}`);
    const group = chosen.key === 'laptop' || chosen.key === 'coding' ? 'coding' : 'default';
    const firstMs = between(250, 1_400) * (chosen.model.includes('opus') ? 2 : 1);
    const common = {
      id: createRequestId(),
      time,
      keyId: key.id,
      userId: key.user_id,
      teamId: key.team_id,
      group,
      model: chosen.model,
      protocol: chosen.protocol,
      operation: chosen.protocol === 'embeddings' ? ('embed' as const) : ('generate' as const),
      stream: chosen.tokens[2] > 100,
      rewrites: [],
      losses: [],
      userAgent: chosen.userAgent,
    };
    if (luck > 0.985) {
      return {
        ...common,
        ...nothing,
        ...(luck > 0.993
          ? { outcome: 'refused', status: 429, error: 'rate_limited' }
          : {
              outcome: 'refused',
              status: 400,
              error: 'model_not_available',
              model: 'claude-sonet-5',
            }),
        upstreamModel: null,
        channel: null,
        attempts: [],
        durationMs: 1,
      };
    }
    const attempt = (
      channel: string,
      kind: AttemptClass,
      status: number,
      result: string,
      from: number,
      durationMs: number,
      words?: string,
    ): AttemptRecord => ({
      channel,
      class: kind,
      status,
      result,
      startedAt: time + from,
      durationMs: Math.round(durationMs),
      upstreamRequestId: `up_${Math.floor(random() * 1e12).toString(36)}`,
      ...(words !== undefined && { blame: 'channel', words }),
    });
    if (luck > 0.978) {
      return {
        ...common,
        ...nothing,
        outcome: 'failed',
        status: 502,
        error: 'upstream_abnormal',
        upstreamModel: null,
        channel: null,
        attempts: [
          attempt(chosen.channel, 'started', 500, 'abnormal', 2, 700, 'api_error: Internal error'),
        ],
        durationMs: 720,
      };
    }
    const retried = luck > 0.955 && chosen.model === 'claude-sonnet-5';
    // It has failed since this morning.
    const isAzure = chosen.model === 'gpt-5' && time > end - 11 * hour;
    const failedMs = retried ? Math.round(between(200, 600)) : isAzure ? 95 : 0;
    const [input, cached, output] = chosen.tokens;
    const all = Math.round(input * between(0.4, 1.7));
    const cacheRead = Math.round(all * cached * between(0.8, 1.03));
    const isLeft = luck < 0.006 && common.stream;
    const tokens: TokenUsage = {
      input: all - cacheRead,
      cacheRead,
      cacheWrite:
        chosen.protocol === 'messages' && cached > 0 ? Math.round(between(300, 2_400)) : 0,
      cacheWrite1h: 0,
      output: Math.round(output * between(0.4, 1.8)),
      reasoning: chosen.model === 'gpt-5' ? Math.round(output * between(0.1, 0.3)) : 0,
    };
    const durationMs = Math.round(failedMs + firstMs + tokens.output * between(6, 12));
    const channel = retried ? 'bedrock-eu' : chosen.channel;
    return {
      ...common,
      tokens,
      outcome: isLeft ? 'client-left' : 'completed',
      status: 200,
      error: null,
      upstreamModel: retried ? 'eu.claude-sonnet-5' : chosen.model,
      channel,
      attempts: [
        ...(isAzure
          ? [attempt('azure-eu', 'started', 500, 'abnormal', 1, 90, 'server_error: Try again')]
          : []),
        ...(retried
          ? [
              attempt(
                chosen.channel,
                'started',
                529,
                'overloaded',
                1,
                failedMs,
                'overloaded_error: Overloaded',
              ),
            ]
          : []),
        attempt(channel, 'shown', 200, 'completed', failedMs + 2, durationMs - failedMs - 3),
      ],
      usageSource: 'reported',
      ttftMs: common.stream ? Math.round(failedMs + firstMs) : null,
      durationMs,
      charge: chargeOf(chosen.model, tokens, group, key.team_id, time),
    };
  }

  /** A response whose counts cannot be true: at most the hold is charged. */
  function quarantined(time: number): ExchangeRecord {
    const record = recordOf(habitOf('llama-fast'), time, luckOf.ordinary);
    const tokens = { ...noTokens, input: 3_100_000, output: 900_000 };
    const charge = chargeOf(record.model, tokens, record.group, record.teamId, time);
    if (charge === null) throw new Error(`no price of ${record.model}`);
    return {
      ...record,
      tokens,
      usageSource: 'quarantined',
      charge: { ...charge, held: '16000000', cost: '16000000' },
    };
  }

  function chargeOf(
    id: string,
    tokens: TokenUsage,
    group: string,
    team: string | null,
    time: number,
  ) {
    const model = models.get(id);
    if (model === undefined || model.price === null || model.priceVersion === null) return null;
    const multiplier = group === 'coding' ? '0.85' : '1';
    const rates = ratesOf(model.price);
    const lines =
      rates.input !== null && rates.tokens === null
        ? [{ rate: rates.input, quantity: tokens.input }]
        : tokenLines(rates, tokens);
    const { items, cost } = receiptOf(lines, parseMultiplier(multiplier));
    if (cost === 0n) return null;
    return {
      payer: team === null ? ('user' as const) : ('team' as const),
      cost: String(cost),
      held: String(cost * 4n),
      overshoot: '0',
      priceVersion: model.priceVersion,
      multiplier,
      receipt: items,
      window: team === null ? null : new Date(time).toISOString().slice(0, 10),
    };
  }
}

/** What happens to a request, of 0 to 1. */
const luckOf = { ordinary: 0.5, retried: 0.97 } as const;

const nothing = {
  tokens: noTokens,
  usageSource: 'none',
  ttftMs: null,
  charge: null,
} as const;

function habit(
  key: string,
  userAgent: string,
  model: string,
  protocol: ProtocolName,
  channel: string,
  weight: number,
  tokens: Habit['tokens'],
): Habit {
  return { key, userAgent, model, protocol, channel, weight, tokens };
}

function habitOf(model: string): Habit {
  const found = habits.find((each) => each.model === model);
  if (found === undefined) throw new Error(`nobody asks for ${model}`);
  return found;
}
