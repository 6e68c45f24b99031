import { randomBytes } from 'node:crypto';
import type { Kysely, Transaction } from 'kysely';
import type { ColumnsOf, EntryOf, Kind, NamesWith } from '#config/index.ts';
import { assertMayChange, type Change, type Upserted } from './change.ts';
import { formatUsd, parseUsd } from './money.ts';
import type { Database, Owner } from './schema.ts';

/** A stored entry: the declaration plus the members that the database adds. */
export type Stored<Declared> = Declared & {
  readonly owner: Owner;
  readonly enabled: boolean;
  /** Unix milliseconds. */
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Grows with every change. */
  readonly revision: number;
};

/** An entry as its row has it, without what its repository reads from elsewhere. */
export type StoredEntry<Of extends Kind> = Stored<
  Omit<
    EntryOf<Of>,
    | NamesWith<Of, { readonly stored: 'apart' }>
    | NamesWith<Of, { readonly stored: 'hash' }>
    | NamesWith<Of, { readonly ignored: true }>
  >
>;

type Row = Readonly<Record<string, unknown>>;

interface OwnedColumns {
  readonly owner: Owner;
  readonly enabled: number;
  readonly created_at: number;
  readonly updated_at: number;
  readonly revision: number;
}

/** A new row id such as `ch_3f…`: a prefix for the kind of row and 96 random bits. */
export function createId(prefix: 'ch' | 'usr' | 'team' | 'key' | 'adm'): string {
  return `${prefix}_${randomBytes(12).toString('hex')}`;
}

/** A boolean as the database stores it. */
export function bit(value: boolean): 0 | 1 {
  return value ? 1 : 0;
}

/** Whether any of `values` differs from the row. */
export function differs<Values extends object>(row: Values, values: Partial<Values>): boolean {
  return Object.entries(values).some(([column, value]) => row[column as keyof Values] !== value);
}

/**
 * The columns of an entry, with `enabled`. What it lacks is as a file without it means; entries of kinds without
 * `enabled` are enabled by being there. Settings are in the order of the kind, so that equal ones are equal text.
 */
export function columnsOf<Of extends Kind>(
  { list }: Of,
  entry: Partial<EntryOf<Of>>,
): ColumnsOf<Of> & { readonly enabled: 0 | 1 } & SettingsColumn<Of> {
  const values = entry as Row;
  const columns: Record<string, unknown> = { enabled: 1 };
  for (const member of list) {
    if (typeof member.stored === 'string') continue;
    const value = values[member.property] ?? member.usualValue ?? null;
    columns[columnName(member)] = toColumn(member.form, value);
  }
  if (list.some(({ stored }) => stored === 'settings')) {
    columns['settings'] = textOf(list, 'settings', values);
  }
  return columns as ReturnType<typeof columnsOf<Of>>;
}

type SettingsColumn<Of extends Kind> =
  NamesWith<Of, { readonly stored: 'settings' }> extends never
    ? unknown
    : { readonly settings: string };

/** What is to be sealed of an entry. */
export function sealedTextOf<Of extends Kind>({ list }: Of, entry: EntryOf<Of>): string {
  return textOf(list, 'sealed', entry as Row);
}

function textOf(list: Kind['list'], where: 'settings' | 'sealed', values: Row): string {
  const settingValues: Record<string, unknown> = {};
  for (const { property, stored, sparse, usualValue } of list) {
    const value = values[property] ?? usualValue;
    if (stored === where && (sparse !== true || value !== usualValue))
      settingValues[property] = value;
  }
  return JSON.stringify(settingValues);
}

/**
 * Reads an entry from its row. Rows that were written before a member existed have its usual value.
 * @param sealed the opened text of what is sealed
 */
export function entryOf<Of extends Kind>(
  { list }: Of,
  row: object,
  sealed = '{}',
): StoredEntry<Of> {
  const columns = row as Row & OwnedColumns;
  const settings = (columns['settings'] as string | undefined) ?? '{}';
  // There may be very many keys: one pass, and no list between.
  const values: Record<string, unknown> = {
    ...read(list, 'settings', settings),
    ...read(list, 'sealed', sealed),
  };
  for (const member of list) {
    if (typeof member.stored === 'string') continue;
    values[member.property] = fromColumn(member.form, columns[columnName(member)]);
  }
  return Object.assign(values, {
    owner: columns.owner,
    enabled: columns.enabled === 1,
    createdAt: columns.created_at,
    updatedAt: columns.updated_at,
    revision: columns.revision,
  }) as unknown as StoredEntry<Of>;
}

/** What the column `settings` has of an entry. */
export function settingsOf<Of extends Kind>(
  { list }: Of,
  text: string,
): Pick<EntryOf<Of>, NamesWith<Of, { readonly stored: 'settings' }> & keyof EntryOf<Of>> {
  return read(list, 'settings', text) as ReturnType<typeof settingsOf<Of>>;
}

function read(list: Kind['list'], where: 'settings' | 'sealed', text: string): Row {
  const values = JSON.parse(text) as Row;
  const settingValues: Record<string, unknown> = {};
  for (const { property, stored, usualValue } of list) {
    if (stored === where)
      settingValues[property] = property in values ? values[property] : usualValue;
  }
  return settingValues;
}

type Form = Kind['list'][number]['form'];

function toColumn(form: Form, value: unknown): unknown {
  if (value === null) return null;
  if (form === 'amount') return parseUsd(value as string);
  if (form === 'flag') return bit(value === true);
  return form === 'names' ? JSON.stringify(value) : value;
}

function fromColumn(form: Form, value: unknown): unknown {
  if (value === null || value === undefined) return null;
  if (form === 'amount') return formatUsd(value as bigint);
  if (form === 'flag') return value === 1;
  return form === 'names' ? (JSON.parse(value as string) as unknown) : value;
}

/** The tables of all kinds look alike where only the description of the kind matters. */
type Loose = Record<string, Record<string, unknown>>;
const loose = (db: Kysely<Database>) => db as unknown as Kysely<Loose>;

/** All rows of a kind by what identifies them, including disabled ones. */
export async function listEntries<Of extends Kind>(
  db: Kysely<Database>,
  kind: Of,
): Promise<StoredEntry<Of>[]> {
  const query = loose(db).selectFrom(kind.section).selectAll().orderBy(kind.identity);
  return (await query.execute()).map((row) => entryOf(kind, row));
}

/** Of an upsert: what was done, and the row as it was. */
export interface UpsertedRow {
  readonly outcome: Upserted;
  readonly before: Row | null;
}

/**
 * Creates the row with this name, or changes it if something differs.
 * @param columns all that follows from the entry
 * @param created the columns that only a new row gets
 * @throws OwnedElsewhere if the row has another owner.
 */
export async function upsertRow(
  change: Change,
  { name: kind, section, identity, list }: Kind,
  {
    name,
    columns,
    created = {},
  }: { readonly name: string; readonly columns: object; readonly created?: object },
): Promise<UpsertedRow> {
  const { trx, owner, now } = change;
  const values: Row = { ...columns, owner };
  const before = await findRow(trx, { section, identity }, name);
  if (before === null) {
    await loose(trx)
      .insertInto(section)
      .values({
        ...created,
        ...values,
        created_at: now,
        updated_at: now,
        revision: await change.revision(),
      })
      .execute();
    return { outcome: 'created', before };
  }
  assertMayChange(change, kind, name, before['owner'] as Owner);
  const bookedColumns = list.filter(({ set }) => set === 'booked').map(columnName);
  const changedColumns = Object.fromEntries(
    Object.entries(values).filter(
      ([column]) => column !== identity && !bookedColumns.includes(column),
    ),
  );
  if (!differs(before, changedColumns)) return { outcome: 'unchanged', before };
  await updateRow(change, { section, identity }, name, changedColumns);
  return { outcome: 'updated', before };
}

const columnName = ({ name, stored }: Kind['list'][number]): string =>
  typeof stored === 'object' ? stored.column : name;

type Table = Pick<Kind, 'section' | 'identity'>;

export async function findRow(
  trx: Transaction<Database> | Kysely<Database>,
  { section, identity }: Table,
  name: string,
): Promise<Row | null> {
  const query = loose(trx).selectFrom(section).selectAll().where(identity, '=', name);
  return (await query.executeTakeFirst()) ?? null;
}

export async function updateRow(
  change: Change,
  { section, identity }: Table,
  name: string,
  values: object,
): Promise<void> {
  await loose(change.trx)
    .updateTable(section)
    .set({ ...values, updated_at: change.now, revision: await change.revision() })
    .where(identity, '=', name)
    .execute();
}

/**
 * Disables an entry; returns its row as it was, or null if it does not exist or is already disabled.
 * @param values what disabling means, where it is something else
 * @throws OwnedElsewhere if it has another owner.
 */
export async function disableRow(
  change: Change,
  kind: Kind,
  name: string,
  values: object = { enabled: 0 },
): Promise<Row | null> {
  const before = await findRow(change.trx, kind, name);
  if (before === null || before['enabled'] === 0) return null;
  assertMayChange(change, kind.name, name, before['owner'] as Owner);
  await updateRow(change, kind, name, values);
  return before;
}
