import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import {
  addColumns,
  addOwned,
  createIndexes,
  createTable,
  type ColumnTypes,
} from './column-types.ts';

/** Users, teams, keys, and the counter that tells nodes when something changed. */
export function accounts(types: ColumnTypes): Migration {
  const { text, integer } = types;
  return {
    async up(db: Kysely<unknown>) {
      await createTable(db, 'revisions', types)
        .addColumn('name', text, (column) => column.primaryKey().notNull())
        .addColumn('value', integer, (column) => column.notNull())
        .execute();
      await sql`insert into revisions (name, value) values ('global', 1)`.execute(db);

      let users = addOwned(withId(db, 'users', types), types);
      users = addColumns(users, text, ['email', 'name?', 'role', 'password_hash?']);
      users = addColumns(users, integer, ['opening_credit', 'quota?']);
      await users.addUniqueConstraint('users_email', ['email']).execute();

      let teams = addOwned(withId(db, 'teams', types), types);
      teams = addColumns(teams, text, ['name', 'time_zone']);
      teams = addColumns(teams, integer, ['opening_credit', 'rpm?']);
      teams = addColumns(teams, integer, ['budget_daily?', 'budget_monthly?', 'budget_total?']);
      await teams.addUniqueConstraint('teams_name', ['name']).execute();

      let members = createTable(db, 'team_members', types)
        .addColumn('team_id', text, (column) => column.notNull().references('teams.id'))
        .addColumn('user_id', text, (column) => column.notNull().references('users.id'));
      members = addColumns(members, text, ['role']);
      members = addColumns(members, integer, ['budget?', 'revision']);
      await members.addPrimaryKeyConstraint('team_members_pk', ['team_id', 'user_id']).execute();

      let keys = addOwned(withId(db, 'keys', types), types);
      keys = addColumns(keys, text, [
        'name',
        'hash?',
        'secret_owner?',
        'prefix',
        'group_name',
        'settings',
      ]);
      keys = keys
        .addColumn('user_id', text, (column) => column.notNull().references('users.id'))
        .addColumn('team_id', text, (column) => column.references('teams.id'));
      keys = addColumns(keys, integer, ['quota?', 'expires_at?', 'rpm?', 'rph?']);
      keys = addColumns(keys, integer, ['max_concurrency?', 'revoked_at?']);
      await keys
        .addUniqueConstraint('keys_hash', ['hash'])
        .addUniqueConstraint('keys_name', ['name'])
        .execute();

      await createIndexes(db, 'users', [['revision']]);
      await createIndexes(db, 'teams', [['revision']]);
      await createIndexes(db, 'team_members', [['user_id']]);
      await createIndexes(db, 'keys', [['revision'], ['user_id'], ['team_id']]);
    },
  };
}

function withId(db: Kysely<unknown>, name: string, types: ColumnTypes) {
  return createTable(db, name, types).addColumn('id', types.text, (column) =>
    column.primaryKey().notNull(),
  );
}
