import type { Kysely, Transaction } from 'kysely';
import type { DeclaredAlias } from '#config/index.ts';
import { assertMayChange, type Change, type Upserted } from '#database/change.ts';
import { bit, differs, ownedFields, type Stored } from '#database/rows.ts';
import type { Database } from '#database/schema.ts';

export type StoredAlias = Stored<DeclaredAlias>;

/** All aliases, by name, including disabled ones. */
export async function listAliases(db: Kysely<Database>): Promise<StoredAlias[]> {
  const rows = await db.selectFrom('aliases').selectAll().orderBy('name').execute();
  return rows.map((row) => ({ name: row.name, model: row.model, ...ownedFields(row) }));
}

/** @throws OwnedElsewhere if the alias has another owner. */
export async function upsertAlias(change: Change, alias: DeclaredAlias): Promise<Upserted> {
  const { trx, owner, now } = change;
  const values = { model: alias.model, owner, enabled: bit(true) };
  const existing = await find(trx, alias.name);
  if (existing === undefined) {
    await trx
      .insertInto('aliases')
      .values({
        ...values,
        name: alias.name,
        created_at: now,
        updated_at: now,
        revision: await change.revision(),
      })
      .execute();
    return 'created';
  }
  assertMayChange(change, 'alias', alias.name, existing.owner);
  if (!differs(existing, values)) return 'unchanged';
  await update(change, alias.name, values);
  return 'updated';
}

/** False if it does not exist or is already disabled. */
export async function disableAlias(change: Change, name: string): Promise<boolean> {
  const existing = await find(change.trx, name);
  if (existing === undefined || existing.enabled === 0) return false;
  assertMayChange(change, 'alias', name, existing.owner);
  await update(change, name, { enabled: 0 });
  return true;
}

function find(trx: Transaction<Database>, name: string) {
  return trx.selectFrom('aliases').selectAll().where('name', '=', name).executeTakeFirst();
}

async function update(change: Change, name: string, values: object): Promise<void> {
  await change.trx
    .updateTable('aliases')
    .set({ ...values, updated_at: change.now, revision: await change.revision() })
    .where('name', '=', name)
    .execute();
}
