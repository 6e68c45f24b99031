import { sql, type Kysely } from 'kysely';
import type { OpenDatabase } from '#database/index.ts';
import type { Database } from '#database/schema.ts';
import { rowHours } from '#database/row-hours.ts';
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
  const dimensions = sql.join(hourlyDimensions.map((name) => sql.ref(name)));
  const sums = checkedSums.map((name) => sql.ref(name));
  const total = (name: string) => sql`sum(${sql.ref(name)})`;
  const part = { from: hour, to: hour + hourMs };
  const rowSums = rowHours(dialect === 'postgres', [part], 'unbilled attempts');
  const { rows } = await sql<Row>`
    select ${dimensions},
      ${sql.join(checkedSums.map((name) => sql`${total(name)} as ${sql.ref(name)}`))}
    from (
      select ${dimensions}, ${sql.join(sums)} from usage_hourly where hour = ${hour}
      union all
      select ${dimensions}, ${sql.join(sums.map((sum) => sql`-${sum}`))} from ${rowSums} as rows_of_hour
    ) as sides
    group by ${dimensions}
    having ${sql.join(
      checkedSums.map((name) => sql`${total(name)} <> 0`),
      sql` or `,
    )}`.execute(kysely);
  return rows;
}
