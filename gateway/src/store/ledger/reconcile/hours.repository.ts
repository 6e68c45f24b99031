import { sql, type Kysely } from 'kysely';
import type { OpenDatabase } from '#database/index.ts';
import type { Database } from '#database/schema.ts';
import { hourlyDimensions, hourlySums, type HourlySums } from '#database/usage-hourly.ts';
import { usageRemovedBefore } from '#database/revisions.ts';
import type { Check } from './difference.ts';
import type { TimeRange } from './rows.repository.ts';

const hourMs = 3_600_000;

type CheckedSum = Exclude<keyof HourlySums, 'attempts' | 'failed_attempts'>;
/** Programs of earlier versions count no attempts beside their rows. */
const checkedSums = hourlySums.filter(
  (name): name is CheckedSum => name !== 'attempts' && name !== 'failed_attempts',
);
type Sums = Record<CheckedSum, number | bigint>;
type Row = Record<(typeof hourlyDimensions)[number], string> & Sums;

/**
 * Checks every hour's sums against its rows. Covers only hours that lie entirely in the range and of which retention
 * has removed no rows. One statement per hour, which sees one state of the database.
 */
export async function* checkHours(database: OpenDatabase, { from, to }: TimeRange): Check {
  const { kysely: db } = database;
  let count = 0;
  const first = Math.max(from ?? 0, await usageRemovedBefore(db));
  let hour = await nextHour(db, Math.ceil(first / hourMs) * hourMs);
  const last = (to ?? Infinity) - hourMs;
  while (hour !== null && hour <= last) {
    count += 1;
    const rows = await differencesOf(database, hour);
    // Checked again, because rows of this hour may have been removed meanwhile.
    const isWhole = rows.length === 0 || (await usageRemovedBefore(db)) <= hour;
    for (const row of isWhole ? rows : []) {
      const names = hourlyDimensions.map((dimension) => row[dimension]).join(' ');
      const wrongSums = checkedSums.filter((name) => Number(row[name]) !== 0);
      yield {
        check: 'hour',
        subject: `${new Date(hour).toISOString()} ${names}`,
        expected: 'the sums of its rows',
        found: wrongSums.map((name) => `${name} off by ${row[name]}`).join(', '),
      };
    }
    hour = await nextHour(db, hour + hourMs);
  }
  return count;
}

/** The first hour from `start` that has rows or sums. */
async function nextHour(db: Kysely<Database>, start: number): Promise<number | null> {
  const { rows } = await sql<{ hour: number | null }>`
    select min(hour) as hour from (
      select min(hour) as hour from usage_hourly where hour >= ${start}
      union all
      select min(time) - min(time) % ${sql.lit(hourMs)} from usage where time >= ${start}
    ) as hours`.execute(db);
  return rows[0]?.hour ?? null;
}

async function differencesOf({ kysely, dialect }: OpenDatabase, hour: number): Promise<Row[]> {
  const attempts = attemptsIn[dialect];
  const names = sql.join([...hourlyDimensions, ...checkedSums].map((name) => sql.ref(name)));
  const total = (name: string) => sql`sum(${sql.ref(name)})`;
  const { rows } = await sql<Row>`
    select ${sql.join(hourlyDimensions.map((name) => sql.ref(name)))},
      ${sql.join(checkedSums.map((name) => sql`${total(name)} as ${sql.ref(name)}`))}
    from (
      select ${names} from usage_hourly where hour = ${hour}
      union all
      select
        key_id, user_id, coalesce(team_id, ''), case when attempts = '[]' then '' else model end,
        coalesce(channel, ''), client, -${sql.ref('count')},
        case when outcome in ('failed', 'refused') then -${sql.ref('count')} else 0 end,
        case when outcome = 'refused' then -${sql.ref('count')} else 0 end,
        -input_tokens, -cache_read_tokens, -cache_write_tokens, -cache_write_1h_tokens,
        -output_tokens, -reasoning_tokens,
        ${sql.join(units.map((name) => sql`-${unitsIn[dialect](name)}`))},
        -coalesce(cost, 0), 0
      from usage where time >= ${hour} and time < ${hour + hourMs}
      union all
      select
        key_id, user_id, coalesce(team_id, ''), model, ${attempts.text('channel')}, client,
        ${sql.join(attemptless.map(() => sql.lit(0)))}, -(${sql.join(parts.map(attempts.tokens), sql` + `)})
      from usage, ${attempts.each}
      where time >= ${hour} and time < ${hour + hourMs} and attempts like '%"usage"%'
        and ${attempts.text('usage')} is not null
    ) as sides
    group by ${sql.join(hourlyDimensions.map((name) => sql.ref(name)))}
    having ${sql.join(
      checkedSums.map((name) => sql`${total(name)} <> 0`),
      sql` or `,
    )}`.execute(kysely);
  return rows;
}

/** Reasoning is part of the output. */
const parts = ['input', 'cacheRead', 'cacheWrite', 'cacheWrite1h', 'output'] as const;

/** Sums to which attempts add nothing: all but the last one. */
const attemptless = checkedSums.slice(0, -1);

const units = ['images', 'video_ms', 'video_tokens'] as const;

/** A count of what a row made besides tokens. */
const unitsIn = {
  sqlite: (name: string) => sql`coalesce(units ->> ${sql.lit(`$.${name}`)}, 0)`,
  postgres: (name: string) => sql`coalesce((units::jsonb ->> ${sql.lit(name)})::bigint, 0)`,
} as const;

/** The attempts of a row and their members, one by one. */
const attemptsIn = {
  sqlite: {
    each: sql`json_each(attempts) as attempt`,
    text: (name: string) => sql`attempt.value ->> ${sql.lit(name)}`,
    tokens: (name: string) => sql`(attempt.value ->> ${sql.lit(`$.usage.${name}`)})`,
  },
  postgres: {
    each: sql`jsonb_array_elements(attempts::jsonb) as attempt`,
    text: (name: string) => sql`attempt ->> ${sql.lit(name)}`,
    tokens: (name: string) => sql`(attempt -> 'usage' ->> ${sql.lit(name)})::bigint`,
  },
} as const;
