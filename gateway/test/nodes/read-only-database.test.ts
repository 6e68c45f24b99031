import { sql } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '#database/index.ts';
import { createNodeRegistry } from '#nodes/index.ts';
import { dialects, isSkipped, openTestDatabase } from '../database/databases.ts';
import { until } from '../behaviour/support.ts';
import { startGatewayPlace } from '../support/gateway-place.ts';
import { secret } from '../workers/workplace.ts';

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

it.skipIf(isSkipped('postgres'))(
  '/ready says at once that rows wait, also while heartbeats are written, until they are in the database',
  async () => {
    const { database, url: databaseUrl, close } = await openTestDatabase('postgres');
    onTestFinished(close);
    const { url } = await startGatewayPlace({ databaseUrl });
    const run = (statement: string) => sql.raw(statement).execute(database.kysely);
    await run(
      `create function refuse() returns trigger language plpgsql as $$ begin raise exception 'No space left on device' using errcode = '53100'; end $$`,
    );
    await run(
      'create trigger refuse before insert on usage for each statement execute function refuse()',
    );
    const served = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: '{"model":"demo-chat","messages":[{"role":"user","content":"Hello!"}]}',
    });
    expect(served.status).toBe(200);
    const degraded = async () => {
      const response = await fetch(`${url}/ready`);
      return ((await response.json()) as { degraded: readonly string[] }).degraded;
    };
    await until(async () => (await degraded()).includes('database-writes'), 'rows wait', 8_000);
    await run('drop trigger refuse on usage');
    await until(async () => (await degraded()).length === 0, 'the rows are written', 10_000);
  },
  40_000,
);
