import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { addColumns, createIndexes, createTable, type ColumnTypes } from './column-types.ts';

/** Video tasks, from their submit until some days after their end. */
export function tasks(types: ColumnTypes): Migration {
  const { text, integer } = types;
  return {
    async up(db: Kysely<unknown>) {
      const identified = addColumns(createTable(db, 'tasks', types), text, [
        'id',
        'protocol',
        'request_id',
        'key_id',
        'user_id',
        'team_id?',
        'group_name',
        'user_agent?',
        'model',
        'demand',
        'asked',
        'terms?',
        'state',
        'failure?',
        'members',
        'upstream_id?',
        'channel?',
        'channel_id?',
        'upstream_model?',
        'access?',
        'attempts',
        'lease_owner?',
      ]);
      await addColumns(identified, integer, [
        'time',
        'held?',
        'quantity?',
        'created_at',
        'accepted_at?',
        'looked_at?',
        'updated_at',
        'ended_at?',
        'due_at?',
        'lease_until?',
        'fence',
        'failed_looks',
        'late_looks',
        'lost_quantity?',
        'hidden',
      ])
        .addPrimaryKeyConstraint('tasks_pk', ['id'])
        .addUniqueConstraint('tasks_of_requests', ['request_id'])
        .execute();
      await createIndexes(db, 'tasks', [
        ['due_at'],
        ['user_id', 'protocol', 'created_at', 'id'],
        ['ended_at'],
        ['lease_owner'],
      ]);
    },
  };
}
