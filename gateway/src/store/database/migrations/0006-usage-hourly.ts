import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { addColumns, createIndexes, createTable, type ColumnTypes } from './column-types.ts';

/**
 * Usage by the hour, which outlives the rows. Absent text is empty here, because it is part of the primary key.
 * Existing rows are summed up.
 */
export function usageHourly(types: ColumnTypes): Migration {
  const { text, integer } = types;
  return {
    async up(db: Kysely<unknown>) {
      let table = addColumns(createTable(db, 'usage_hourly', types), integer, ['hour']);
      table = addColumns(table, text, ['key_id', 'user_id', 'team_id', 'model', 'channel']);
      table = addColumns(table, integer, ['requests', 'failed', 'input_tokens', 'output_tokens']);
      table = addColumns(table, integer, ['cache_read_tokens', 'cache_write_tokens']);
      table = addColumns(table, integer, ['cache_write_1h_tokens', 'reasoning_tokens', 'cost']);
      table = addColumns(table, integer, ['unbilled_tokens']);
      await table
        .addPrimaryKeyConstraint('usage_hourly_pk', [
          'key_id',
          'hour',
          'model',
          'channel',
          'user_id',
          'team_id',
        ])
        .execute();
      await createIndexes(db, 'usage_hourly', [['hour'], ['user_id', 'hour']]);
      await db.schema
        .createIndex('usage_hourly_by_team_id_hour')
        .on('usage_hourly')
        .columns(['team_id', 'hour'])
        .where('team_id', '<>', sql.lit(''))
        .execute();
      await sql`
        insert into usage_hourly (
          hour, key_id, user_id, team_id, model, channel, requests, failed, input_tokens, output_tokens,
          cache_read_tokens, cache_write_tokens, cache_write_1h_tokens, reasoning_tokens, cost,
          unbilled_tokens
        )
        select
          time - time % 3600000, key_id, user_id, coalesce(team_id, ''),
          case when attempts = '[]' then '' else model end, coalesce(channel, ''), count(*),
          sum(case when outcome in ('failed', 'refused') then 1 else 0 end), sum(input_tokens),
          sum(output_tokens), sum(cache_read_tokens), sum(cache_write_tokens),
          sum(cache_write_1h_tokens), sum(reasoning_tokens), coalesce(sum(cost), 0),
          0
        from usage group by 1, 2, 3, 4, 5, 6`.execute(db);
    },
  };
}
