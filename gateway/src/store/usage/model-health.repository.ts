import type { Kysely } from 'kysely';
import type { Database } from '#database/schema.ts';

/** How requests for a model went lately. */
export interface ModelHealth {
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
const hours = 24;
/** Requests whose median is taken: enough for a steady figure, and few enough to be read at once. */
const sample = 100;
/** Models that are measured for one list: the busiest. */
const mostMeasured = 60;

/** The last 24 hours up to `now` by the name that clients wrote, for names that were asked for. */
export async function modelHealth(
  db: Kysely<Database>,
  names: readonly string[] | null,
  now: number,
): Promise<ReadonlyMap<string, ModelHealth>> {
  const first = now - (now % hourMs) - (hours - 1) * hourMs;
  let query = db
    .selectFrom('usage_hourly')
    .select(['model', 'hour'])
    .select(({ fn }) => [
      fn.sum<number>('requests').as('requests'),
      fn.sum<number>('failed').as('failed'),
    ])
    .where('hour', '>=', first)
    .where('model', '<>', '')
    .groupBy(['model', 'hour']);
  if (names !== null) query = query.where('model', 'in', names);
  const byModel = Map.groupBy(await query.execute(), ({ model }) => model);
  const busiest = [...byModel]
    .map(([model, rows]) => ({ model, rows, requests: sum(rows, 'requests') }))
    .toSorted((a, b) => b.requests - a.requests);
  const found = new Map<string, ModelHealth>();
  for (const [at, { model, rows, requests }] of busiest.entries()) {
    const counts = Array.from({ length: hours }, () => ({ requests: 0, failed: 0 }));
    for (const { hour, requests: asked, failed } of rows) {
      const place = counts[(hour - first) / hourMs];
      if (place !== undefined) Object.assign(place, { requests: asked, failed });
    }
    const speed = at < mostMeasured ? await speedOf(db, model, first) : unknown;
    found.set(model, { requests, failed: sum(rows, 'failed'), hours: counts, ...speed });
  }
  return found;
}

type Speed = Pick<ModelHealth, 'firstToken' | 'duration' | 'tokensPerSecond'>;

const unknown: Speed = { firstToken: null, duration: null, tokensPerSecond: null };

async function speedOf(db: Kysely<Database>, model: string, from: number): Promise<Speed> {
  const rows = await db
    .selectFrom('usage')
    .select(['ttft_ms', 'duration_ms', 'output_tokens', 'stream'])
    .where('model', '=', model)
    .where('time', '>=', from)
    .where('outcome', '=', 'completed')
    .orderBy('time', 'desc')
    .limit(sample)
    .execute();
  // What came in one piece has a first byte, but no first token and no speed.
  const streamed = rows.flatMap(({ ttft_ms: first, stream, ...row }) =>
    first === null || stream === 0 ? [] : [{ ...row, first }],
  );
  return {
    firstToken: median(streamed.map(({ first }) => first)),
    duration: median(rows.map(({ duration_ms: duration }) => duration)),
    tokensPerSecond: median(
      streamed.flatMap(({ first, duration_ms: duration, output_tokens: tokens }) =>
        duration > first && tokens > 1 ? ((tokens - 1) / (duration - first)) * 1_000 : [],
      ),
    ),
  };
}

function median(values: readonly number[]): number | null {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const [low = 0, high = low] = sorted.slice(Math.max(0, middle - 1), middle + 1);
  if (sorted.length === 0) return null;
  return sorted.length % 2 === 1 ? (sorted[middle] ?? null) : (low + high) / 2;
}

function sum<Name extends string>(rows: readonly Readonly<Record<Name, number>>[], name: Name) {
  return rows.reduce((total, row) => total + row[name], 0);
}
