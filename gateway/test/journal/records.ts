import type { OpenDatabase } from '#database/index.ts';
import {
  linesOf,
  recordUsage,
  type AttemptRecord,
  type ChargeRecord,
  type ExchangeRecord,
  type RecordUsageOptions,
  type UsageLines,
} from '#usage/index.ts';

/** A finished exchange with something in every part. */
export function record(id: string, parts: Partial<ExchangeRecord> = {}): ExchangeRecord {
  return {
    id,
    time: 1_760_000_000_000,
    keyId: 'key_1',
    userId: 'usr_1',
    teamId: null,
    group: 'default',
    model: 'gpt-5',
    upstreamModel: 'gpt-5',
    channel: 'openai-main',
    protocol: 'chat',
    operation: 'generate',
    stream: true,
    outcome: 'completed',
    status: 200,
    error: null,
    attempts: [
      {
        // Of the row: an attempt at another one would be in the sums of that one.
        channel: parts.channel === undefined ? 'openai-main' : (parts.channel ?? ''),
        class: 'shown',
        status: 200,
        result: 'completed',
        startedAt: 1_760_000_000_001,
        durationMs: 340,
        upstreamRequestId: 'abc',
      },
    ],
    tokens: { input: 10, cacheRead: 1, cacheWrite: 2, cacheWrite1h: 3, output: 20, reasoning: 5 },
    usageSource: 'reported',
    ttftMs: 12.25,
    durationMs: 345.4,
    rewrites: ['b1'],
    losses: ['top_k'],
    userAgent: 'test/1',
    charge: null,
    ...parts,
  };
}

/** An attempt on a channel that failed after it had used this much. */
export function unpaidAttempt(channel: string, output: number): AttemptRecord {
  return {
    channel,
    class: 'started',
    status: 200,
    result: 'abnormal',
    startedAt: 1_760_000_000_000,
    durationMs: 1,
    upstreamRequestId: null,
    usage: { input: 10, cacheRead: 1, cacheWrite: 2, cacheWrite1h: 3, output, reasoning: 5 },
  };
}

/** A charge of so many nano-USD; its receipt has one item of 1 nano-USD per token. */
export function charge(cost: bigint, parts: Partial<ChargeRecord> = {}): ChargeRecord {
  return {
    payer: 'user',
    cost: String(cost),
    held: '1000000000',
    overshoot: '0',
    priceVersion: 'price_1',
    multiplier: '1',
    receipt: [{ part: 'output', quantity: Number(cost), rate: '1000000' }],
    window: null,
    ...parts,
  };
}

/** Keeps the price that `charge` names, as the catalogue does before it is used. */
export async function keepPrice({ kysely }: OpenDatabase): Promise<void> {
  await kysely
    .insertInto('price_versions')
    .values({ id: 'price_1', model: 'm', price: '{"output":"0.001"}', created_at: 1 })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Writes them in a transaction of their own, as the journal does. */
export function recordAll(
  database: OpenDatabase,
  records: readonly ExchangeRecord[],
  options?: RecordUsageOptions,
): Promise<number> {
  return recordLines(database, linesOf(records), options);
}

export function recordLines(
  { kysely }: OpenDatabase,
  lines: UsageLines,
  options?: RecordUsageOptions,
): Promise<number> {
  return kysely.transaction().execute((trx) => recordUsage(trx, lines, options));
}
