import { sql, type ColumnDefinitionBuilder, type CreateTableBuilder, type Kysely } from 'kysely';

/** What differs between the two databases. */
export interface ColumnTypes {
  readonly text: 'text';
  /** 64 bits on both. */
  readonly integer: 'integer' | 'bigint';
  /** SQLite's `strict` makes it hold to the declared types as PostgreSQL does. */
  readonly tableEnd: 'strict' | '';
}

/** Migrations see whatever tables exist at their time, so they are not typed by the present schema. */
export type AnyTables = Record<string, Record<string, unknown>>;

type Builder = CreateTableBuilder<string, string>;
const required = (column: ColumnDefinitionBuilder) => column.notNull();

/** Starts a table; end it with `.execute()`. */
export function createTable(db: Kysely<unknown>, name: string, types: ColumnTypes): Builder {
  const builder = db.schema.createTable(name);
  return types.tableEnd === '' ? builder : builder.modifyEnd(sql`strict`);
}

/** Adds columns of one type: `'name'` is required, `'name?'` may be null. */
export function addColumns(
  builder: Builder,
  type: ColumnTypes['text' | 'integer'],
  names: readonly string[],
): Builder {
  let result = builder;
  for (const name of names) {
    result = name.endsWith('?')
      ? result.addColumn(name.slice(0, -1), type)
      : result.addColumn(name, type, required);
  }
  return result;
}

/** The columns of every row that has an owner. */
export function addOwned(builder: Builder, { text, integer }: ColumnTypes): Builder {
  const owned = addColumns(builder, text, ['owner']);
  return addColumns(owned, integer, ['enabled', 'created_at', 'updated_at', 'revision']);
}

/** One index per entry: the table's name and columns make the index's name. */
export async function createIndexes(
  db: Kysely<unknown>,
  table: string,
  indexes: readonly (readonly string[])[],
): Promise<void> {
  for (const columns of indexes) {
    await db.schema
      .createIndex(`${table}_by_${columns.join('_')}`)
      .on(table)
      .columns([...columns])
      .execute();
  }
}
