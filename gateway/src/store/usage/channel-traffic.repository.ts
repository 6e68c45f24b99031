import { sql, type Kysely } from 'kysely';
import type { Database } from '#database/schema.ts';
import type { AttemptBlame } from './record.ts';

/** How the attempts at a channel went in the last 24 hours, on all nodes. */
export interface ChannelTraffic {
  readonly attempts: number;
  /** How many of them failed; a fault of the request is no failure of the channel. */
  readonly failed: number;
  /** For each hour, in order. */
  readonly hours: readonly HourOfAttempts[];
  /** The mean until the first token of a stream, in milliseconds; null: there was none. */
  readonly firstToken: number | null;
  /** Failures by their word, the most frequent first. */
  readonly errors: readonly { readonly error: string; readonly attempts: number }[];
  /** The end of the last attempt that answered, in Unix milliseconds; null: none did. */
  readonly answeredAt: number | null;
  /** The failures since then; null: it has answered since its last failure. */
  readonly failing: {
    /** Unix milliseconds: the first of them. */
    readonly since: number;
    readonly attempts: number;
  } | null;
  /** Null: nothing failed. */
  readonly lastFailure: AttemptFailed | null;
}

export interface HourOfAttempts {
  readonly attempts: number;
  readonly failed: number;
}

export interface AttemptFailed {
  /** The request. */
  readonly id: string;
  /** Unix milliseconds. */
  readonly time: number;
  readonly error: string;
  readonly blame: AttemptBlame;
  readonly status: number | null;
  /** The upstream's words, cleaned; null: none are kept. */
  readonly text: string | null;
}

const hourMs = 3_600_000;
/** As the range of 24 hours: from the whole hour in which it begins, so the hours are one more. */
const hours = 24;
/** How far back the beginning of a failure is looked for. */
const longestMs = 30 * 24 * hourMs;

/** Of all channels that were asked in the last 24 hours up to `now` (Unix milliseconds), by name. */
export async function channelTraffic(
  db: Kysely<Database>,
  now: number,
): Promise<ReadonlyMap<string, ChannelTraffic>> {
  const first = now - (now % hourMs) - hours * hourMs;
  const groups = await db
    .selectFrom('attempts_hourly')
    .select(['channel', 'hour', 'outcome', 'error'])
    .select(({ fn }) => [
      fn.sum<number>('attempts').as('attempts'),
      fn.sum<number>('first_tokens').as('first_tokens'),
      fn.sum<number>('first_token_ms').as('first_token_ms'),
      fn.max('last_at').as('last_at'),
    ])
    .where('hour', '>=', first)
    .groupBy(['channel', 'hour', 'outcome', 'error'])
    .execute();
  const traffic = new Map<string, ChannelTraffic>();
  for (const [channel, rows] of Map.groupBy(groups, (row) => row.channel)) {
    const counts = Array.from({ length: hours + 1 }, () => ({ attempts: 0, failed: 0 }));
    const errors = new Map<string, number>();
    for (const { hour, outcome, error, attempts } of rows) {
      const isFailed = outcome === 'failed';
      if (isFailed) errors.set(error, (errors.get(error) ?? 0) + attempts);
      const place = counts[(hour - first) / hourMs];
      if (place === undefined) continue;
      place.attempts += attempts;
      if (isFailed) place.failed += attempts;
    }
    const firstTokens = sum(rows, 'first_tokens');
    const failed = errors.values().reduce((total, attempts) => total + attempts, 0);
    const lastAt = (outcome: string) =>
      Math.max(-1, ...rows.flatMap((row) => (row.outcome === outcome ? [row.last_at] : [])));
    const isFailing = lastAt('failed') > lastAt('answered');
    const answeredAt =
      isFailing && lastAt('answered') < 0 ? await lastAnswer(db, channel, now) : lastAt('answered');
    traffic.set(channel, {
      attempts: sum(rows, 'attempts'),
      failed,
      hours: counts,
      firstToken: firstTokens === 0 ? null : Math.round(sum(rows, 'first_token_ms') / firstTokens),
      errors: [...errors]
        .map(([error, attempts]) => ({ error, attempts }))
        .toSorted((a, b) => b.attempts - a.attempts),
      answeredAt: answeredAt < 0 ? null : answeredAt,
      failing: isFailing ? await failuresSince(db, channel, answeredAt, now) : null,
      lastFailure: failed === 0 ? null : await lastFailure(db, channel),
    });
  }
  return traffic;
}

/** Unix milliseconds; -1: it has not answered for a long time. */
async function lastAnswer(db: Kysely<Database>, channel: string, now: number): Promise<number> {
  const { last } = await db
    .selectFrom('attempts_hourly')
    .select(({ fn }) => fn.max('last_at').as('last'))
    .where('hour', '>=', now - longestMs)
    .where('channel', '=', channel)
    .where('outcome', '=', 'answered')
    .executeTakeFirstOrThrow();
  return last ?? -1;
}

async function failuresSince(
  db: Kysely<Database>,
  channel: string,
  after: number,
  now: number,
): Promise<ChannelTraffic['failing']> {
  const { since, attempts } = await db
    .selectFrom('usage_errors')
    .select(({ fn }) => [fn.min('time').as('since'), fn.countAll<number>().as('attempts')])
    .where('channel', '=', channel)
    .where('time', '>', Math.max(after, now - longestMs))
    .where('blame', 'is not', null)
    .executeTakeFirstOrThrow();
  return since === null ? null : { since, attempts };
}

async function lastFailure(db: Kysely<Database>, channel: string): Promise<AttemptFailed | null> {
  const row = await db
    .selectFrom('usage_errors')
    .select(['id', 'time', 'error', 'blame', 'status', 'text'])
    .where('channel', '=', channel)
    .where('blame', 'is not', null)
    .orderBy('time', 'desc')
    .limit(sql.lit(1))
    .executeTakeFirst();
  return row === undefined ? null : { ...row, blame: row.blame as AttemptBlame };
}

function sum<Name extends string>(rows: readonly Readonly<Record<Name, number>>[], name: Name) {
  return rows.reduce((total, row) => total + row[name], 0);
}
