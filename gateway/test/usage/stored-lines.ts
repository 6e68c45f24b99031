import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OpenDatabase } from '#database/index.ts';
import type { ApartUnits, ExchangeRecord } from '#usage/index.ts';

/*
 * A batch as each version stored it: never written anew by the code of today. The first line is of a record with
 * something in every part that its version knew, the second one of a refusal.
 */

const folder = join(import.meta.dirname, 'stored-lines');

export interface StoredBatch {
  readonly version: number;
  readonly lines: string;
}

/** Of every version that has ever been written, the oldest first. */
export const storedBatches: readonly StoredBatch[] = readdirSync(folder)
  .map((name) => ({
    version: Number(/^version-(\d+)\.txt$/.exec(name)?.[1]),
    lines: readFileSync(join(folder, name), 'utf8').trimEnd(),
  }))
  .toSorted((a, b) => a.version - b.version);

/** Tasks have no lines: their rows are written with their ends. Tokens of sound came to units within a version. */
type OtherUnit =
  | 'video_ms'
  | 'video_tokens'
  | 'resolution'
  | 'with_video'
  | 'task'
  | Exclude<keyof ApartUnits, 'input_image_tokens' | 'output_image_tokens'>;

/** With every member present: a new one has to be added below, and is then looked for in lines and rows. */
type Complete<Value> = Value extends readonly (infer Item)[]
  ? readonly Complete<Item>[]
  : Value extends object
    ? {
        readonly [Member in Exclude<keyof Value, OtherUnit>]-?: Complete<
          NonNullable<Value[Member]>
        >;
      }
    : Value;

const usage = { input: 1, cacheRead: 2, cacheWrite: 3, cacheWrite1h: 4, output: 5, reasoning: 6 };

const units = {
  images: 1,
  layers: 2,
  reference_images: 3,
  input_image_tokens: 4,
  output_image_tokens: 5,
};

/** The first line of the newest version. */
export const completeRecord: Complete<ExchangeRecord> = {
  id: 'req_10_a',
  time: 1_760_000_000_123,
  keyId: 'key_1',
  userId: 'usr_1',
  teamId: 'team_1',
  group: 'staff',
  model: 'gpt-5',
  upstreamModel: 'gpt-5-2026',
  channel: 'openai-main',
  protocol: 'responses',
  operation: 'generate',
  stream: true,
  outcome: 'completed',
  status: 200,
  error: 'unavailable',
  message: 'please retry later',
  attempts: [
    {
      channel: 'spare',
      class: 'started',
      status: 529,
      result: 'overloaded',
      blame: 'channel',
      startedAt: 1_760_000_000_130,
      durationMs: 40,
      upstreamRequestId: 'up_1',
      usage,
      units,
      words: 'overloaded_error: Overloaded',
    },
    {
      channel: 'openai-main',
      class: 'shown',
      status: 200,
      result: 'completed',
      blame: 'none',
      startedAt: 1_760_000_000_180,
      durationMs: 340,
      upstreamRequestId: 'up_2',
      usage,
      units,
      words: 'late',
    },
  ],
  tokens: { input: 11, cacheRead: 12, cacheWrite: 13, cacheWrite1h: 14, output: 15, reasoning: 16 },
  usageSource: 'reported',
  ttftMs: 17.4,
  durationMs: 18.6,
  rewrites: ['b1', 'p2'],
  losses: ['top_k'],
  route: [{ channel: 'late', reason: 'not-reached' }],
  usageUnread: ['details.video_tokens'],
  userAgent: 'Codex/1 "Größe"',
  count: 2,
  charge: {
    payer: 'team',
    cost: '9007199254740993',
    held: '9007199254740000',
    overshoot: '993',
    priceVersion: '00c0ffee00c0ffee',
    multiplier: '1.25',
    receipt: [
      { part: 'input', quantity: 11, rate: '1250000' },
      { part: 'output', quantity: 15, rate: '10000000' },
    ],
    window: '2025-10-09',
    lease: { life: 'life_1', parts: ['9007199254740000', '0', '9007199254740000', '1', '0', '0'] },
  },
  upstreamState: {
    owner: 'd0',
    channel: 'ch_1',
    credential: 'd1',
    expiresAt: 1_762_592_000_123,
    ids: ['d2', 'response', 'd3', 'item'],
  },
  units,
};

/** What a line says, by column; JSON is parsed. */
export type Values = Readonly<Record<string, unknown>>;

const charged: Values = {
  cost: '9007199254740993',
  payer: 'team',
  held: '9007199254740000',
  overshoot: '993',
  price_version: '00c0ffee00c0ffee',
  multiplier: '1.25',
  receipt: [
    { part: 'input', quantity: 11, rate: '1250000' },
    { part: 'output', quantity: 15, rate: '10000000' },
  ],
  budget_window: '2025-10-09',
};

const uncharged: Values = Object.fromEntries(Object.keys(charged).map((name) => [name, null]));

/** Of the complete record. */
const answered: Values = {
  time: 1_760_000_000_123,
  key_id: 'key_1',
  user_id: 'usr_1',
  team_id: 'team_1',
  group_name: 'staff',
  model: 'gpt-5',
  upstream_model: 'gpt-5-2026',
  channel: 'openai-main',
  protocol: 'responses',
  operation: 'generate',
  stream: 1,
  outcome: 'completed',
  status: 200,
  error: 'unavailable',
  attempts: [
    {
      channel: 'spare',
      class: 'started',
      status: 529,
      result: 'overloaded',
      startedAt: 1_760_000_000_130,
      durationMs: 40,
      upstreamRequestId: 'up_1',
      usage,
    },
    {
      channel: 'openai-main',
      class: 'shown',
      status: 200,
      result: 'completed',
      startedAt: 1_760_000_000_180,
      durationMs: 340,
      upstreamRequestId: 'up_2',
      usage,
    },
  ],
  input_tokens: 11,
  cache_read_tokens: 12,
  cache_write_tokens: 13,
  cache_write_1h_tokens: 14,
  output_tokens: 15,
  reasoning_tokens: 16,
  usage_source: 'reported',
  ttft_ms: 17,
  duration_ms: 19,
  rewrites: ['b1', 'p2'],
  losses: ['top_k'],
  user_agent: 'Größe/1 "q"',
};

const refused: Values = {
  time: 1_760_003_600_000,
  key_id: 'key_2',
  user_id: 'usr_2',
  team_id: null,
  group_name: 'default',
  model: 'no-such',
  upstream_model: null,
  channel: null,
  protocol: 'chat',
  operation: 'count-tokens',
  stream: 0,
  outcome: 'refused',
  status: 404,
  error: 'model_not_found',
  attempts: [],
  input_tokens: 0,
  cache_read_tokens: 0,
  cache_write_tokens: 0,
  cache_write_1h_tokens: 0,
  output_tokens: 0,
  reasoning_tokens: 0,
  usage_source: 'none',
  ttft_ms: null,
  duration_ms: 2,
  rewrites: [],
  losses: [],
  user_agent: null,
};

const lease = ['life_1', '9007199254740000', '0', '9007199254740000', '1', '0', '0'];

const upstreamState = ['d0', 'ch_1', 'd1', 1_762_592_000_123, ['d2', 'response', 'd3', 'item']];

/** What the two lines of a version say; what it did not know yet has the value that it means today. */
export function storedValues(version: number): readonly [Values, Values] {
  return [
    {
      id: `req_${version}_a`,
      ...answered,
      ...(version >= 2 ? charged : uncharged),
      upstream_state: version >= 3 ? upstreamState : null,
      count: version >= 4 ? 2 : 1,
      ...(version >= 5 && { attempts: attemptsOf(version) }),
      ...(version >= 7 && { user_agent: 'Codex/1 "Größe"' }),
      client: version >= 7 ? 'codex' : 'other',
      route: version >= 8 ? completeRecord.route : null,
      usage_unread: version >= 9 ? completeRecord.usageUnread : null,
      error_texts:
        version >= 10 ? ['please retry later', 'overloaded_error: Overloaded', 'late'] : null,
      units: version >= 5 ? units : null,
      lease: version >= 6 ? lease : null,
    },
    {
      id: `req_${version}_b`,
      ...refused,
      ...uncharged,
      upstream_state: null,
      count: version >= 4 ? 140 : 1,
      units: null,
      lease: null,
      client: 'other',
      route: null,
      usage_unread: null,
      error_texts: version >= 10 ? ['no such model'] : null,
    },
  ];
}

/** Without their words, which are beside them. */
function attemptsOf(version: number) {
  return completeRecord.attempts.map(({ words: _words, blame, ...attempt }) =>
    version >= 10 ? { ...attempt, blame } : attempt,
  );
}

const json = [
  'attempts',
  'rewrites',
  'losses',
  'receipt',
  'units',
  'route',
  'usage_unread',
] as const;
const amounts = ['cost', 'held', 'overshoot'] as const;

/** All usage rows by their ids; JSON is parsed. */
export async function readRows({ kysely }: OpenDatabase): Promise<Values[]> {
  const rows = await kysely.selectFrom('usage').selectAll().orderBy('id').execute();
  return rows.map((row) => ({
    ...row,
    ...Object.fromEntries(json.map((name) => [name, JSON.parse(row[name] ?? 'null')])),
  }));
}

/** The row that such values come to. @param posting of one that costs something */
export function toRow(values: Values, posting: unknown): Values {
  const bigints = amounts.map((name) => {
    const amount = values[name];
    return [name, typeof amount === 'string' ? BigInt(amount) : null];
  });
  const isCharged = values['cost'] !== null;
  const kept = Object.entries(values).filter(
    ([name]) => !['upstream_state', 'lease', 'error_texts'].includes(name),
  );
  const unknown = [
    ['posting', isCharged ? posting : null],
    ['late', null],
  ] as const;
  return Object.fromEntries([...kept, ...bigints, ...unknown]);
}
