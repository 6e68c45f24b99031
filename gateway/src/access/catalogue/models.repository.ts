import type { Kysely, Transaction } from 'kysely';
import type { DeclaredModel } from '#config/index.ts';
import { assertMayChange, type Change, type Upserted } from '#database/change.ts';
import { bit, differs, ownedFields, type Stored } from '#database/rows.ts';
import type { Database } from '#database/schema.ts';
import { bundledModels } from './bundled.ts';

export type StoredModel = Stored<DeclaredModel>;
type Settings = Omit<DeclaredModel, 'id' | 'type' | 'imageToolModel' | 'enabled'>;

/** All models declared by the file or the console, by id; the database does not contain bundled models. */
export async function listModels(db: Kysely<Database>): Promise<StoredModel[]> {
  const rows = await db.selectFrom('models').selectAll().orderBy('id').execute();
  return rows.map((row) => ({
    id: row.id,
    type: row.type as DeclaredModel['type'],
    // Rows of earlier versions have no `allow`.
    ...({ allow: [], ...JSON.parse(row.settings) } as Settings),
    ...ownedFields(row),
  }));
}

/** @throws OwnedElsewhere if the model has another owner. */
export async function upsertModel(change: Change, model: DeclaredModel): Promise<Upserted> {
  const { trx, owner, now } = change;
  const values = {
    type: model.type,
    settings: toSettings(model),
    owner,
    enabled: bit(model.enabled),
  };
  const existing = await find(trx, model.id);
  if (existing === undefined) {
    await trx
      .insertInto('models')
      .values({
        ...values,
        id: model.id,
        created_at: now,
        updated_at: now,
        revision: await change.revision(),
      })
      .execute();
    return 'created';
  }
  assertMayChange(change, 'model', model.id, existing.owner);
  if (!differs(existing, values)) return 'unchanged';
  await update(change, model.id, values);
  return 'updated';
}

/**
 * Removes a model. A bundled model returns to its bundled entry, which the row only overrode. False if it does not
 * exist or is already disabled.
 */
export async function disableModel(change: Change, id: string): Promise<boolean> {
  const existing = await find(change.trx, id);
  if (existing === undefined || existing.enabled === 0) return false;
  assertMayChange(change, 'model', id, existing.owner);
  const bundled = bundledModels.find((model) => model.id === id);
  const values =
    bundled === undefined
      ? { enabled: 0 }
      : { owner: 'system', type: bundled.type, settings: toSettings(nothingSaid) };
  await update(change, id, values);
  return true;
}

const nothingSaid: Settings = {
  displayName: null,
  ownedBy: null,
  contextWindow: null,
  maxOutputTokens: null,
  capabilities: [],
  echoReasoning: null,
  allow: [],
  price: null,
};

/** In a fixed order, so that equal settings are equal text. */
function toSettings(model: Settings): string {
  return JSON.stringify({
    displayName: model.displayName,
    ownedBy: model.ownedBy,
    contextWindow: model.contextWindow,
    maxOutputTokens: model.maxOutputTokens,
    capabilities: model.capabilities,
    echoReasoning: model.echoReasoning,
    allow: model.allow,
    price: model.price,
  } satisfies Settings);
}

function find(trx: Transaction<Database>, id: string) {
  return trx.selectFrom('models').selectAll().where('id', '=', id).executeTakeFirst();
}

async function update(change: Change, id: string, values: object): Promise<void> {
  await change.trx
    .updateTable('models')
    .set({ ...values, updated_at: change.now, revision: await change.revision() })
    .where('id', '=', id)
    .execute();
}
