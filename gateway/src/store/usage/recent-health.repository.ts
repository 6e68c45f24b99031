import { sql, type Kysely } from 'kysely';
import type { Database } from '#database/schema.ts';

/** How requests for a model went lately. */
export interface RecentHealth {
  readonly requests: number;
  readonly failed: number;
  /** For each hour of the range, in order. */
  readonly hours: readonly { readonly requests: number; readonly failed: number }[];
  /** Medians of the latest requests that succeeded, in milliseconds; null: there are none. */
  readonly firstToken: number | null;
  readonly duration: number | null;
  readonly tokensPerSecond: number | null;
}

const hourMs = 3_600_000;
/** As the range of 24 hours: from the whole hour in which it begins, so the hours are one more. */
const hours = 24;
/** Requests whose median is taken: enough for a steady figure, and few enough to be read at once. */
const sample = 100;
/** Models that are measured for one list: the busiest. */
const mostMeasured = 60;

/**
 * The last 24 hours up to `now` by the model's name, as clients wrote it.
 * @param names null: all that were asked
 */
export async function recentHealth(
  db: Kysely<Database>,
  names: readonly string[] | null,
  now: number,
): Promise<ReadonlyMap<string, RecentHealth>> {
  const first = now - (now % hourMs) - hours * hourMs;
  let query = db
    .selectFrom('usage_hourly_models')
    .select(['model as name', 'hour'])
    .select(({ fn }) => [
      fn.sum<number>('requests').as('requests'),
      // What the gateway or an upstream refuses says nothing about the model.
      fn.sum<number>(sql`failed - refused`).as('failed'),
    ])
    .where('hour', '>=', first)
    .where('model', '<>', '')
    .groupBy(['model', 'hour']);
  if (names !== null) query = query.where('model', 'in', names);
  const byName = Map.groupBy(await query.execute(), ({ name }) => name);
  const busiest = [...byName]
    .map(([name, rows]) => ({ name, rows, requests: sum(rows, 'requests') }))
    .toSorted((a, b) => b.requests - a.requests);
  const healthByName = new Map<string, RecentHealth>();
  for (const [at, { name, rows, requests }] of busiest.entries()) {
    const counts = Array.from({ length: hours + 1 }, () => ({ requests: 0, failed: 0 }));
    for (const { hour, requests: attempts, failed } of rows) {
      const place = counts[(hour - first) / hourMs];
      if (place !== undefined) Object.assign(place, { requests: attempts, failed });
    }
    const speed = at < mostMeasured ? await speedOf(db, name, first) : unknown;
    healthByName.set(name, { requests, failed: sum(rows, 'failed'), hours: counts, ...speed });
  }
  return healthByName;
}

type Speed = Pick<RecentHealth, 'firstToken' | 'duration' | 'tokensPerSecond'>;

const unknown: Speed = { firstToken: null, duration: null, tokensPerSecond: null };

async function speedOf(db: Kysely<Database>, name: string, from: number): Promise<Speed> {
  const rows = await db
    .selectFrom('usage')
    .select(['ttft_ms', 'duration_ms', 'output_tokens', 'stream'])
    .where('model', '=', name)
    .where('time', '>=', from)
    .where('outcome', '=', 'completed')
    .orderBy('time', 'desc')
    .limit(sample)
    .execute();
  // What came in one piece has a first byte, but no first token and no speed.
  const streamTimes = rows.flatMap(({ ttft_ms: first, stream, ...row }) =>
    first === null || stream === 0 ? [] : [{ ...row, first }],
  );
  return {
    firstToken: median(streamTimes.map(({ first }) => first)),
    duration: median(rows.map(({ duration_ms: duration }) => duration)),
    tokensPerSecond: median(
      streamTimes.flatMap(({ first, duration_ms: duration, output_tokens: tokens }) =>
        duration > first && tokens > 1 ? ((tokens - 1) / (duration - first)) * 1_000 : [],
      ),
    ),
  };
}

function median(values: readonly number[]): number | null {
  const sortedValues = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sortedValues.length / 2);
  const [low = 0, high = low] = sortedValues.slice(Math.max(0, middle - 1), middle + 1);
  if (sortedValues.length === 0) return null;
  return sortedValues.length % 2 === 1 ? (sortedValues[middle] ?? null) : (low + high) / 2;
}

function sum<Name extends string>(rows: readonly Readonly<Record<Name, number>>[], name: Name) {
  return rows.reduce((total, row) => total + row[name], 0);
}
