import type { Kysely, Transaction } from 'kysely';
import type { DeclaredGroup } from '#config/index.ts';
import { assertMayChange, type Change, type Upserted } from '#database/change.ts';
import { bit, differs, ownedFields, type Stored } from '#database/rows.ts';
import type { Database } from '#database/schema.ts';

export type StoredGroup = Stored<DeclaredGroup>;

/** All groups, by name, including disabled ones. */
export async function listGroups(db: Kysely<Database>): Promise<StoredGroup[]> {
  const rows = await db.selectFrom('groups').selectAll().orderBy('name').execute();
  return rows.map((row) => ({
    name: row.name,
    priceMultiplier: row.price_multiplier,
    ...ownedFields(row),
  }));
}

/** @throws OwnedElsewhere if the group has another owner. */
export async function upsertGroup(change: Change, group: DeclaredGroup): Promise<Upserted> {
  const { trx, owner, now } = change;
  const values = { price_multiplier: group.priceMultiplier, owner, enabled: bit(true) };
  const existing = await find(trx, group.name);
  if (existing === undefined) {
    await trx
      .insertInto('groups')
      .values({
        ...values,
        name: group.name,
        created_at: now,
        updated_at: now,
        revision: await change.revision(),
      })
      .execute();
    return 'created';
  }
  assertMayChange(change, 'group', group.name, existing.owner);
  if (!differs(existing, values)) return 'unchanged';
  await update(change, group.name, values);
  return 'updated';
}

/** False if it does not exist or is already disabled. */
export async function disableGroup(change: Change, name: string): Promise<boolean> {
  const existing = await find(change.trx, name);
  if (existing === undefined || existing.enabled === 0) return false;
  assertMayChange(change, 'group', name, existing.owner);
  await update(change, name, { enabled: 0 });
  return true;
}

function find(trx: Transaction<Database>, name: string) {
  return trx.selectFrom('groups').selectAll().where('name', '=', name).executeTakeFirst();
}

async function update(change: Change, name: string, values: object): Promise<void> {
  await change.trx
    .updateTable('groups')
    .set({ ...values, updated_at: change.now, revision: await change.revision() })
    .where('name', '=', name)
    .execute();
}
