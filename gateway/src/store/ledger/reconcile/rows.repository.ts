import { setImmediate } from 'node:timers/promises';
import { sql, type Kysely } from 'kysely';
import type { Database } from '#database/schema.ts';
import { checkRow, checkedColumns, type CheckedRow } from './check-row.ts';
import type { Check } from './difference.ts';
import { checkRates } from './kept-rates.ts';

/** Unix milliseconds: `from` is inclusive, `to` exclusive. */
export interface TimeRange {
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

const pageSize = 2_000;
/** Few enough rows that no request for a model waits until they are checked. */
const rowsAtOnce = 200;

/** Usage rows by time, in parts. Rows that are added behind the reader are not returned. */
export async function* usageRows(
  db: Kysely<Database>,
  { from, to }: TimeRange,
): AsyncGenerator<CheckedRow[]> {
  let after = { time: from ?? 0, id: '' };
  for (;;) {
    let query = db
      .selectFrom('usage')
      .select(checkedColumns)
      // Redundant, but in a form that an index on time serves.
      .where('time', '>=', after.time)
      .where((where) => where.or([where('time', '>', after.time), where('id', '>', after.id)]))
      .orderBy('time')
      .orderBy('id')
      .limit(pageSize);
    if (to !== undefined) query = query.where('time', '<', to);
    const rows = await query.execute();
    for (let at = 0; at < rows.length; at += rowsAtOnce) {
      yield rows.slice(at, at + rowsAtOnce);
      await setImmediate();
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < pageSize) return;
    after = { time: last.time, id: last.id };
  }
}

/** Checks every row against its own receipt, and the receipt against the price it names. */
export async function* checkRows(db: Kysely<Database>, range: TimeRange): Check {
  const prices = createPrices(db);
  let count = 0;
  for await (const rows of usageRows(db, range)) {
    count += rows.length;
    await prices.load(rows);
    for (const row of rows) {
      yield* checkRow(row);
      if (row.cost !== null) yield* checkRates(row, prices.get(row.price_version));
    }
  }
  return count;
}

/** The rows that were charged without a lease, and by how much: no difference, but limits may be exceeded by it. */
export async function lateCharges(
  db: Kysely<Database>,
  { from, to }: TimeRange,
): Promise<{ readonly count: number; readonly amount: bigint }> {
  let query = db
    .selectFrom('usage')
    .select([
      sql<number | bigint>`count(*)`.as('count'),
      sql<bigint>`cast(coalesce(sum(late), 0) as bigint)`.as('late'),
    ])
    .where('late', 'is not', null);
  if (from !== undefined) query = query.where('time', '>=', from);
  if (to !== undefined) query = query.where('time', '<', to);
  const { count, late } = await query.executeTakeFirstOrThrow();
  return { count: Number(count), amount: late };
}

/** The stored prices that rows name; each is read once. */
function createPrices(db: Kysely<Database>) {
  const knownPrices = new Map<string, string | undefined>();
  return {
    async load(rows: readonly CheckedRow[]): Promise<void> {
      const namedVersions = new Set(rows.flatMap(({ price_version: id }) => id ?? []));
      const missingVersions = [...namedVersions].filter((id) => !knownPrices.has(id));
      if (missingVersions.length === 0) return;
      for (const id of missingVersions) knownPrices.set(id, undefined);
      const priceRows = await db
        .selectFrom('price_versions')
        .select(['id', 'price'])
        .where('id', 'in', missingVersions)
        .execute();
      for (const { id, price } of priceRows) knownPrices.set(id, price);
    },
    get: (id: string | null) => (id === null ? undefined : knownPrices.get(id)),
  };
}
