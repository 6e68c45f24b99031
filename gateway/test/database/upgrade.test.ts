import { sql } from 'kysely';
import { Migrator } from 'kysely/migration';
import { describe, expect, it } from 'vitest';
import { migrate, openDatabase, type OpenDatabase } from '#database/index.ts';
import { createMigrations } from '#database/migrations/index.ts';
import { balances, reconcile, type Difference } from '#ledger/index.ts';
import { createTestDatabase, dialects, isSkipped } from './databases.ts';

/** Brings a new database to where it was before the books. */
async function migrateTo(database: OpenDatabase, name: string): Promise<void> {
  const migrations = createMigrations(database.dialect);
  const migrator = new Migrator({
    db: database.kysely,
    provider: { getMigrations: async () => migrations },
    ...(database.dialect === 'postgres' ? { migrationTableSchema: 'public' } : {}),
  });
  const { error } = await migrator.migrateTo(name);
  expect(error).toBeUndefined();
}

describe.each(dialects)('%s', (dialect) => {
  it.skipIf(isSkipped(dialect))(
    'opens the books of a database from before the ledger',
    async () => {
      const { url, drop } = await createTestDatabase(dialect);
      const database = openDatabase({ url });
      const { kysely } = database;
      await migrateTo(database, '0004-prices');
      const owned = `'file', 1, 5, 5, 1`;
      const statements = [
        `insert into users (id, email, role, opening_credit, owner, enabled, created_at, updated_at, revision)
       values ('usr_1', 'a@example.com', 'member', 7, ${owned}), ('usr_2', 'b@example.com', 'member', 0, ${owned})`,
        `insert into teams (id, name, time_zone, opening_credit, owner, enabled, created_at, updated_at, revision)
       values ('team_1', 'a', 'UTC', 9, ${owned})`,
        ...[1, 2, 3].map(
          (index) =>
            `insert into usage (id, time, stream, status, duration_ms, input_tokens, cache_read_tokens,
             cache_write_tokens, cache_write_1h_tokens, output_tokens, reasoning_tokens, key_id, user_id,
             group_name, model, protocol, operation, outcome, attempts, usage_source, rewrites, losses)
           values ('req_${index}', ${index * 1_800_000}, 0, 200, 1, 10, 0, 0, 0, ${index}, 0, 'key_1', 'usr_1',
             'default', 'gpt', 'chat', 'generate', 'completed', '[{}]', 'reported', '[]', '[]')`,
        ),
      ];
      for (const statement of statements) await sql.raw(statement).execute(kysely);

      // A meter that has counted already.
      await migrateTo(database, '0018-leases');
      await sql`insert into spent_totals (meter, spent) values ('user:usr_1:balance', 0)`.execute(
        kysely,
      );

      await migrate(database);
      expect(
        Object.fromEntries(await balances(kysely, ['user:usr_1', 'user:usr_2', 'team:team_1'])),
      ).toEqual({
        'user:usr_1': 7n,
        'user:usr_2': 0n,
        'team:team_1': 9n,
      });
      const entries = await kysely
        .selectFrom('ledger_entries')
        .selectAll()
        .where('transaction_id', '=', 'opening:user:usr_1')
        .orderBy('account')
        .execute();
      const shared = {
        kind: 'opening',
        actor: 'file',
        reason: null,
        time: 5,
        transaction_id: 'opening:user:usr_1',
      };
      expect(entries).toEqual([
        { ...shared, account: 'funding', amount: -7n },
        { ...shared, account: 'user:usr_1', amount: 7n },
      ]);
      const hours = await kysely
        .selectFrom('usage_hourly')
        .select(['hour', 'requests', 'output_tokens', 'cost'])
        .orderBy('hour')
        .execute();
      expect(hours).toEqual([
        { hour: 0, requests: 1, output_tokens: 1, cost: 0n },
        { hour: 3_600_000, requests: 2, output_tokens: 5, cost: 0n },
      ]);
      const differences: Difference[] = [];
      await reconcile(database, {}, (difference) => differences.push(difference));
      expect(differences).toEqual([]);
      await database.close();
      await drop();
    },
  );
});
