import { sql, type ColumnDefinitionBuilder, type CreateTableBuilder, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** The differences between the two databases. */
export interface ColumnTypes {
  readonly text: 'text';
  /** 64 bits on both. */
  readonly integer: 'integer' | 'bigint';
  /** With `strict`, SQLite enforces the declared types as PostgreSQL does. */
  readonly tableEnd: 'strict' | '';
}

/** Migrations see the tables of their own time, so the present schema does not type them. */
export type AnyTables = Record<string, Record<string, unknown>>;

type Builder = CreateTableBuilder<string, string>;
const required = (column: ColumnDefinitionBuilder) => column.notNull();

/** Starts a table; `.execute()` completes it. */
export function createTable(db: Kysely<unknown>, name: string, types: ColumnTypes): Builder {
  const builder = db.schema.createTable(name);
  return types.tableEnd === '' ? builder : builder.modifyEnd(sql`strict`);
}

/** Adds columns of one type. `'name'` is required, `'name?'` is nullable. */
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

/** Creates one index per entry; its name consists of the table and the columns. */
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

/**
 * A step that only adds columns to a table. `before` is the value for the rows that exist, and the default; a column
 * without it is nullable.
 */
export function addedColumns(
  table: string,
  columns: Readonly<
    Record<
      string,
      { readonly type: ColumnTypes['text' | 'integer']; readonly before?: string | number }
    >
  >,
): Migration {
  return {
    async up(db: Kysely<unknown>) {
      // One column per statement: SQLite accepts no more.
      for (const [name, { type, before }] of Object.entries(columns)) {
        const alter = db.schema.alterTable(table);
        await alter
          .addColumn(name, type, (column) =>
            before === undefined ? column : column.notNull().defaultTo(before),
          )
          .execute();
      }
    },
  };
}
