import { sql } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '#database/index.ts';
import { createNodeRegistry } from '#nodes/index.ts';
import { dialects, isSkipped, openTestDatabase } from '../database/databases.ts';
import { until } from '../behaviour/support.ts';
import { startGatewayPlace } from '../support/gateway-place.ts';

describe.each(dialects)('%s', (dialect) => {
  it.skipIf(isSkipped(dialect))(
    'a database that answers but accepts no writes is noticed, and so is its recovery',
    async () => {
      const { database, close } = await openTestDatabase(dialect);
      const node = createNodeRegistry({
        database,
        id: 'node_own',
        log: { info: () => {}, warn: () => {} },
        beatEvery: 20,
      });
      onTestFinished(async () => {
        await node.close();
        await close();
      });
      await node.join({ depth: 0 });
      expect(node.writes).toBe(true);
      await forbidWrites(database, dialect);
      await until(() => !node.writes, 'the database is read-only');
      await allowWrites(database, dialect);
      await until(() => node.writes, 'the database takes writes again');
    },
  );
});

type Opened = Awaited<ReturnType<typeof openTestDatabase>>['database'];

/** On the server for everybody who writes to this table; SQLite's own switch would be this connection's alone. */
async function forbidWrites({ kysely }: Opened, dialect: string): Promise<void> {
  if (dialect === 'sqlite') await sql.raw(refuseInSqlite).execute(kysely);
  else {
    await sql
      .raw(
        `create function refuse() returns trigger language plpgsql as $$ begin raise exception 'cannot execute in a read-only transaction' using errcode = '25006'; end $$`,
      )
      .execute(kysely);
    await sql
      .raw(
        'create trigger refuse before insert or update on nodes for each statement execute function refuse()',
      )
      .execute(kysely);
  }
}

const refuseInSqlite =
  "create trigger refuse before insert on nodes begin select raise(abort, 'database or disk is full'); end";

async function allowWrites({ kysely }: Opened, dialect: string): Promise<void> {
  await sql.raw(`drop trigger refuse${dialect === 'sqlite' ? '' : ' on nodes'}`).execute(kysely);
}

it('/ready names it', async () => {
  const { url, databaseUrl } = await startGatewayPlace({ config: '' });
  const database = openDatabase({ url: databaseUrl });
  onTestFinished(() => database.close());
  await sql.raw(refuseInSqlite).execute(database.kysely);
  const degraded = async () => {
    const response = await fetch(`${url}/ready`);
    return ((await response.json()) as { degraded: readonly string[] }).degraded;
  };
  await until(
    async () => (await degraded()).includes('database-writes'),
    '/ready names it',
    25_000,
  );
  expect(await degraded()).not.toContain('database');
}, 40_000);
