import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { addColumns, createIndexes, createTable, type ColumnTypes } from './column-types.ts';

/** One row per exchange. No foreign keys: a row outlives the rows it refers to, and its insertion must never fail. */
export function usage(types: ColumnTypes): Migration {
  const { text, integer } = types;
  return {
    async up(db: Kysely<unknown>) {
      let table = createTable(db, 'usage', types).addColumn('id', text, (column) =>
        column.primaryKey().notNull(),
      );
      table = addColumns(table, integer, ['time', 'stream', 'status', 'duration_ms', 'ttft_ms?']);
      table = addColumns(table, integer, ['input_tokens', 'cache_read_tokens']);
      table = addColumns(table, integer, ['cache_write_tokens', 'cache_write_1h_tokens']);
      table = addColumns(table, integer, ['output_tokens', 'reasoning_tokens', 'cost?']);
      table = addColumns(table, text, ['key_id', 'user_id', 'team_id?', 'group_name', 'model']);
      table = addColumns(table, text, ['upstream_model?', 'channel?', 'protocol', 'operation']);
      table = addColumns(table, text, ['outcome', 'error?', 'attempts', 'usage_source']);
      table = addColumns(table, text, ['receipt?', 'rewrites', 'losses', 'user_agent?']);
      await table.execute();

      await createIndexes(db, 'usage', [
        ['time'],
        ['key_id', 'time'],
        ['user_id', 'time'],
        ['model', 'time'],
      ]);
      await db.schema
        .createIndex('usage_by_team_id_time')
        .on('usage')
        .columns(['team_id', 'time'])
        .where('team_id', 'is not', null)
        .execute();
    },
  };
}
