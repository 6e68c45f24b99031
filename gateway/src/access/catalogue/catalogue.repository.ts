import type { Kysely } from 'kysely';
import {
  type DeclaredAlias,
  type DeclaredChannel,
  type DeclaredGroup,
  type DeclaredModel,
  kinds,
} from '#config/index.ts';
import type { Change, Upserted } from '#database/change.ts';
import {
  columnsOf,
  createId,
  disableRow,
  entryOf,
  findRow,
  listEntries,
  sealedTextOf,
  type StoredEntry,
  upsertRow,
} from '#database/rows.ts';
import type { Database } from '#database/schema.ts';
import type { Secrets } from '#database/secrets.ts';
import { bundledModels } from './bundled.ts';

/*
 * All lists come by name or id and include disabled entries. Every upsert and every disabling throws OwnedElsewhere if
 * the entry has another owner; a disabling returns false if the entry does not exist or is already disabled.
 */

export type StoredGroup = StoredEntry<typeof kinds.group>;
export type StoredAlias = StoredEntry<typeof kinds.alias>;
/** Those that the file or the console declares: the database does not have bundled models. */
export type StoredModel = StoredEntry<typeof kinds.model>;
/** With credentials in clear text: for memory, never for output. */
export type StoredChannel = StoredEntry<typeof kinds.channel> & {
  readonly id: string;
  /** When its pauses were last ended, Unix milliseconds; null: never. */
  readonly resetAt: number | null;
};

export const listGroups = (db: Kysely<Database>): Promise<StoredGroup[]> =>
  listEntries(db, kinds.group);
export const listAliases = (db: Kysely<Database>): Promise<StoredAlias[]> =>
  listEntries(db, kinds.alias);
export const listModels = (db: Kysely<Database>): Promise<StoredModel[]> =>
  listEntries(db, kinds.model);

/** @throws Error if this master key cannot decrypt a credential. */
export async function listChannels(
  db: Kysely<Database>,
  secrets: Secrets,
): Promise<StoredChannel[]> {
  const rows = await db.selectFrom('channels').selectAll().orderBy('name').execute();
  return rows.map((row) => ({
    id: row.id,
    resetAt: row.reset_at,
    ...entryOf(kinds.channel, row, secrets.open(row.credentials, sealContext(row.id))),
  }));
}

export async function upsertGroup(change: Change, group: DeclaredGroup): Promise<Upserted> {
  const columns = columnsOf(kinds.group, group);
  return (await upsertRow(change, kinds.group, { name: group.name, columns })).outcome;
}

export async function upsertAlias(change: Change, alias: DeclaredAlias): Promise<Upserted> {
  const columns = columnsOf(kinds.alias, alias);
  return (await upsertRow(change, kinds.alias, { name: alias.name, columns })).outcome;
}

export async function upsertModel(change: Change, model: DeclaredModel): Promise<Upserted> {
  const columns = columnsOf(kinds.model, model);
  return (await upsertRow(change, kinds.model, { name: model.id, columns })).outcome;
}

export async function upsertChannel(change: Change, channel: DeclaredChannel): Promise<Upserted> {
  const { name } = channel;
  const existing = await findRow(change.trx, kinds.channel, name);
  const id = existing === null ? createId('ch') : String(existing['id']);
  const credentials = keepOrSeal(change.secrets, {
    text: sealedTextOf(kinds.channel, channel),
    keptText: existing === null ? null : String(existing['credentials']),
    context: sealContext(id),
  });
  const columns = { ...columnsOf(kinds.channel, channel), credentials };
  return (await upsertRow(change, kinds.channel, { name, columns, created: { id } })).outcome;
}

/** Sealing the same text twice gives different results, so unchanged credentials keep their sealed form. */
function keepOrSeal(
  secrets: Secrets,
  {
    text,
    keptText,
    context,
  }: { readonly text: string; readonly keptText: string | null; readonly context: string },
): string {
  return keptText !== null && secrets.open(keptText, context) === text
    ? keptText
    : secrets.seal(text, context);
}

function sealContext(id: string): string {
  return `channel:${id}:credentials`;
}

/** Ends the pauses of a channel, on every node that reads the change. Its settings stay. */
export async function resetChannel(change: Change, id: string): Promise<void> {
  await change.trx
    .updateTable('channels')
    .set({ reset_at: change.now, revision: await change.revision() })
    .where('id', '=', id)
    .execute();
}

export const disableGroup = async (change: Change, name: string): Promise<boolean> =>
  (await disableRow(change, kinds.group, name)) !== null;
export const disableAlias = async (change: Change, name: string): Promise<boolean> =>
  (await disableRow(change, kinds.alias, name)) !== null;
export const disableChannel = async (change: Change, name: string): Promise<boolean> =>
  (await disableRow(change, kinds.channel, name)) !== null;

/** Removes a model. A bundled model returns to its bundled entry, which the row only overrode. */
export async function disableModel(change: Change, id: string): Promise<boolean> {
  const bundledModel = bundledModels.find((model) => model.id === id);
  if (bundledModel === undefined) return (await disableRow(change, kinds.model, id)) !== null;
  const { type } = bundledModel;
  const values = { ...columnsOf(kinds.model, { id, type }), owner: 'system' };
  return (await disableRow(change, kinds.model, id, values)) !== null;
}

/** The newest revision among the rows of the catalogue; 0 if there are none. */
export async function catalogueRevision(db: Kysely<Database>): Promise<number> {
  const rows = await db
    .selectFrom('groups')
    .select((row) => row.fn.max('revision').as('revision'))
    .unionAll(db.selectFrom('channels').select((row) => row.fn.max('revision').as('revision')))
    .unionAll(db.selectFrom('models').select((row) => row.fn.max('revision').as('revision')))
    .unionAll(db.selectFrom('aliases').select((row) => row.fn.max('revision').as('revision')))
    .execute();
  return Math.max(0, ...rows.map((row) => row.revision ?? 0));
}
