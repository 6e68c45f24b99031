import { sql, type Kysely } from 'kysely';
import type { Database } from '#database/schema.ts';
import { chargedOf, meterNames } from '../meter-names.ts';
import type { Check, Difference } from './difference.ts';
import { usageRows } from './rows.repository.ts';

/** Meters whose sums are held in memory at once. With more meters the rows are read more than once. */
const metersAtOnce = 200_000;
const pageSize = 10_000;

type Totals = ReadonlyMap<string, bigint>;
type Choice = (name: string) => boolean;

/** Checks that every total equals the sum of the rows that count on it, including rows that retention removed. */
export async function* checkMeters(db: Kysely<Database>, atOnce: number = metersAtOnce): Check {
  const { count } = await db
    .selectFrom('spent_totals')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  const rounds = Math.max(1, Math.ceil(count / atOnce));
  for (let round = 0; round < rounds; round++) {
    yield* compare(db, (name) => rounds === 1 || digest(name) % rounds === round);
  }
  yield* checkLeases(db);
  return count;
}

/** Checks that what is set aside on every meter is what its leases have left: one statement, one state. */
async function* checkLeases(db: Kysely<Database>): AsyncGenerator<Difference> {
  const { rows } = await sql<{ meter: string; leased: bigint; drawn: bigint }>`
    select meter, sum(leased) as leased, sum(drawn) as drawn from (
      select meter, leased, 0 as drawn from spent_totals where leased <> 0
      union all select meter, 0, drawn - settled from leases
    ) as sides
    group by meter having sum(leased) <> sum(drawn) order by meter`.execute(db);
  for (const { meter, leased, drawn } of rows) {
    yield { check: 'lease', subject: meter, expected: String(drawn), found: String(leased) };
  }
}

/**
 * Many statements read the rows while the gateway keeps writing. Totals only grow, so the sum of the rows must lie
 * between the total before and the total after the reading.
 */
async function* compare(db: Kysely<Database>, isChosen: Choice): AsyncGenerator<Difference> {
  const removedBefore = await removedOf(db, isChosen);
  const before = await totalsOf(db, isChosen);
  const sums = new Map<string, bigint>(removedBefore);
  for await (const rows of usageRows(db, {})) {
    for (const row of rows) {
      const holder = chargedOf(row);
      if (row.cost === null || row.cost === 0n || holder === null) continue;
      for (const meter of meterNames(holder)) {
        if (isChosen(meter)) sums.set(meter, (sums.get(meter) ?? 0n) + row.cost);
      }
    }
  }
  const now = await totalsOf(db, isChosen);
  const removedNow = await removedOf(db, isChosen);
  for (const meter of new Set([...sums.keys(), ...now.keys()])) {
    const sum = sums.get(meter) ?? 0n;
    // Rows removed meanwhile may have been missed.
    const missedAmount = (removedNow.get(meter) ?? 0n) - (removedBefore.get(meter) ?? 0n);
    const foundAmount = now.get(meter) ?? 0n;
    if (sum > foundAmount || sum + missedAmount < (before.get(meter) ?? 0n)) {
      yield { check: 'meter', subject: meter, expected: String(sum), found: String(foundAmount) };
    }
  }
}

async function totalsOf(db: Kysely<Database>, isChosen: Choice): Promise<Totals> {
  const totals = new Map<string, bigint>();
  let after = '';
  for (;;) {
    const rows = await db
      .selectFrom('spent_totals')
      .select(['meter', 'spent'])
      .where('meter', '>', after)
      .orderBy('meter')
      .limit(pageSize)
      .execute();
    for (const { meter, spent } of rows) if (isChosen(meter)) totals.set(meter, spent);
    if (rows.length < pageSize) return totals;
    after = rows.at(-1)?.meter ?? '';
  }
}

async function removedOf(db: Kysely<Database>, isChosen: Choice): Promise<Totals> {
  const totals = new Map<string, bigint>();
  let after = '';
  for (;;) {
    const rows = await db
      .selectFrom('removed_usage')
      .select(['name', 'cost'])
      .where('name', '>', after)
      .orderBy('name')
      .limit(pageSize)
      .execute();
    for (const { name, cost } of rows) {
      if (!name.startsWith('tx_') && isChosen(name)) totals.set(name, cost);
    }
    if (rows.length < pageSize) return totals;
    after = rows.at(-1)?.name ?? '';
  }
}

/** FNV-1a: distributes names over the rounds. */
function digest(name: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < name.length; index++) {
    hash = Math.imul(hash ^ name.charCodeAt(index), 0x01000193);
  }
  return hash >>> 0;
}
