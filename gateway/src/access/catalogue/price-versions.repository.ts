import type { Kysely } from 'kysely';
import type { Database } from '#database/schema.ts';
import { normalPrice } from '#config/index.ts';
import type { PriceVersion } from './prices.ts';

/** Rows per statement. */
const batch = 200;

/**
 * Stores missing versions and leaves existing ones unchanged, so any number of nodes may write the same ones. `now` is
 * in Unix milliseconds.
 */
export async function appendPriceVersions(
  db: Kysely<Database>,
  versions: readonly PriceVersion[],
  now: number,
): Promise<void> {
  const missingVersions = await withoutKept(db, versions);
  for (let at = 0; at < missingVersions.length; at += batch) {
    await db
      .insertInto('price_versions')
      .values(
        missingVersions.slice(at, at + batch).map(({ id, model, price }) => ({
          id,
          model,
          price: JSON.stringify(price),
          created_at: now,
        })),
      )
      .onConflict((conflict) => conflict.column('id').doNothing())
      .execute();
  }
}

/**
 * The price behind a receipt's `priceVersion`; null if it was never stored. Together with the usage and the multiplier
 * of the row, its cost can be recomputed.
 * @throws Error if the row is damaged, because it would give another price.
 */
export async function readPriceVersion(
  db: Kysely<Database>,
  id: string,
): Promise<(PriceVersion & { readonly createdAt: number }) | null> {
  const row = await db
    .selectFrom('price_versions')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirst();
  if (row === undefined) return null;
  const price = normalPrice(JSON.parse(row.price));
  if (price === null) throw new Error(`the price version ${id} of '${row.model}' is damaged`);
  return { id, model: row.model, price, createdAt: row.created_at };
}

/** The prices that a model had, the newest first. A price that came back stands where it first was. */
export async function listPriceVersions(
  db: Kysely<Database>,
  model: string,
  limit: number,
): Promise<(PriceVersion & { readonly createdAt: number })[]> {
  const rows = await db
    .selectFrom('price_versions')
    .selectAll()
    .where('model', '=', model)
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows.flatMap(({ id, price: text, created_at: createdAt }) => {
    const price = normalPrice(JSON.parse(text));
    return price === null ? [] : [{ id, model, price, createdAt }];
  });
}

/** Usually all are stored already; then nothing is written, and no writer has to wait. */
async function withoutKept(
  db: Kysely<Database>,
  versions: readonly PriceVersion[],
): Promise<PriceVersion[]> {
  const keptHashes = new Set<string>();
  for (let at = 0; at < versions.length; at += batch) {
    const ids = versions.slice(at, at + batch).map(({ id }) => id);
    const rows = await db
      .selectFrom('price_versions')
      .select('id')
      .where('id', 'in', ids)
      .execute();
    for (const { id } of rows) keptHashes.add(id);
  }
  return versions.filter(({ id }) => !keptHashes.has(id));
}
