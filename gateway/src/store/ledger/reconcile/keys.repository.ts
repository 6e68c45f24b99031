import { sql, type Kysely } from 'kysely';
import type { Database } from '#database/schema.ts';
import type { Check } from './difference.ts';

const pageSize = 1_000;

interface KeySums {
  readonly name: string;
  /** According to the hours. */
  readonly cost: bigint;
  /** According to the meter. */
  readonly spent: bigint;
}

/**
 * Checks that the sum of a key's hours equals its meter. Both outlive the rows, so each confirms the other after
 * retention.
 */
export async function* checkKeys(db: Kysely<Database>): Check {
  const ofMeter = sql`substr(meter, 5, length(meter) - 10)`;
  let count = 0;
  let after = '';
  for (;;) {
    const page = await db
      .selectFrom('usage_hourly')
      .select('key_id')
      .distinct()
      .where('key_id', '>', after)
      .orderBy('key_id')
      .limit(pageSize)
      .execute();
    count += page.length;
    const end = page.length < pageSize ? null : (page.at(-1)?.key_id ?? null);
    const within = (name: typeof ofMeter) =>
      end === null ? sql`${name} > ${after}` : sql`(${name} > ${after} and ${name} <= ${end})`;
    const { rows } = await sql<KeySums>`
      select name, sum(cost) as cost, sum(spent) as spent from (
        select key_id as name, cost, 0 as spent from usage_hourly where ${within(sql`key_id`)}
        union all
        select ${ofMeter}, 0, spent from spent_totals
        where meter like 'key:%:quota' and ${within(ofMeter)}
      ) as sides
      group by name having sum(cost) <> sum(spent)`.execute(db);
    for (const { name, cost, spent } of rows) {
      yield { check: 'key', subject: name, expected: String(cost), found: String(spent) };
    }
    if (end === null) return count;
    after = end;
  }
}
