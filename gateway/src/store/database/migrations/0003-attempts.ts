import type { Migration } from 'kysely/migration';
import { addTables, typesOf, type Table } from './add-tables.ts';

/** Attempts by the hour, and what went wrong in each request. */
const attempts: Readonly<Record<string, Table>> = {
  attempts_hourly: {
    columns: [
      ['integer', 'hour'],
      ['text', 'channel model outcome error'],
      ['integer', 'attempts duration_ms first_tokens first_token_ms last_at'],
    ],
    key: { attempts_hourly_pk: 'hour channel model outcome error' },
  },
  usage_errors: {
    columns: [
      ['text', 'id'],
      ['integer', 'attempt time status?'],
      ['text', 'channel? error blame? text?'],
    ],
    key: { usage_errors_pk: 'id attempt' },
    indexes: [
      'time',
      { columns: 'channel time', where: ['channel', 'is not', null] },
      'error time',
      { name: 'usage_errors_texts', columns: 'time', where: ['text', 'is not', null] },
    ],
  },
};

/** Tables of sums that count attempts too. An earlier program adds none to them. */
const counting = ['usage_hourly', 'usage_daily', 'usage_hourly_models', 'usage_kinds'];

/** What became of attempts. */
export function attemptTables(dialect: 'sqlite' | 'postgres'): Migration {
  return {
    async up(db) {
      await addTables(db, dialect, attempts);
      for (const table of counting) {
        for (const column of ['attempts', 'failed_attempts']) {
          await db.schema
            .alterTable(table)
            .addColumn(column, typesOf[dialect].integer, (definition) =>
              definition.notNull().defaultTo(0),
            )
            .execute();
        }
      }
    },
  };
}
