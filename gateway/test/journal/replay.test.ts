import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { expect, test } from 'vitest';
import { migrate, openDatabase } from '#database/index.ts';
import { openJournal, replayJournal } from '#journal/index.ts';
import { reconcile, type Difference } from '#ledger/index.ts';
import { createWorkplace } from '../commands/support.ts';
import { isSkipped, openTestDatabase } from '../database/databases.ts';
import { charge, keepPrice, record } from './records.ts';

/** Runs a gateway's journal for a while. */
async function append(dataDir: string, databaseUrl: string, ids: readonly string[], parts = {}) {
  const journal = await openJournal({ dataDir, databaseUrl, maxSize: 2 ** 30, ...parts });
  await Promise.all(ids.map((id) => journal.append(record(id, { charge: charge(7n) }))));
  await journal.close(30_000);
  expect(journal.depth).toBe(0);
}

test('an older copy of an SQLite file gets its rows back, each once', async () => {
  const { folder, sluice, json } = createWorkplace('{}');
  const dataDir = join(folder, 'data');
  const file = join(dataDir, 'sluice.db');
  const url = `sqlite:${file}`;
  const database = openDatabase({ url });
  await migrate(database);
  await keepPrice(database);
  await database.close();
  await append(dataDir, url, ['req_1', 'req_2']);
  copyFileSync(file, join(folder, 'copy.db'));
  await append(dataDir, url, ['req_3', 'req_4', 'req_5']);
  copyFileSync(join(folder, 'copy.db'), file);

  expect(await sluice('reconcile', '--replay')).toMatchObject({
    code: 0,
    out: expect.stringContaining('5 records in the journal, 3 of them written again\n5 rows, '),
  });
  expect(await json('reconcile', '--replay')).toMatchObject({
    ok: true,
    replayed: { records: 5, restored: 0 },
  });
  expect(await json('usage')).toMatchObject({ data: { length: 5 } });
});

test('a journal that is open writes its records again when it is asked, and then continues', async () => {
  const { database, url, close } = await openTestDatabase('sqlite');
  await keepPrice(database);
  const dataDir = mkdtempSync(join(tmpdir(), 'sluice-'));
  const problems: unknown[] = [];
  const journal = await openJournal({
    dataDir,
    databaseUrl: url,
    maxSize: 2 ** 30,
    onProblem: (problem) => problems.push(problem),
  });
  const append = (id: string) => journal.append(record(id, { charge: charge(7n) }));
  for (const id of ['req_1', 'req_2', 'req_3']) await append(id);
  await expect.poll(() => journal.depth, { timeout: 10_000 }).toBe(0);
  await database.kysely.deleteFrom('usage').where('id', '<>', 'req_1').execute();
  await Promise.all([journal.replay(), journal.replay()]);
  expect(problems).toEqual([{ kind: 'records-replayed', message: '2 of 3' }]);
  await append('req_4');
  await journal.close(30_000);
  const rows = await database.kysely.selectFrom('usage').select('id').orderBy('id').execute();
  expect(rows.map(({ id }) => id)).toEqual(['req_1', 'req_2', 'req_3', 'req_4']);
  await close();
  rmSync(dataDir, { recursive: true });
});

test('without a journal there is nothing to write again', async () => {
  const { sluice } = createWorkplace('{}');
  await sluice('migrate');
  const { code, err } = await sluice('reconcile', '--replay');
  expect([code, err]).toEqual([
    1,
    expect.stringMatching(/^sluice: there is no journal in .*data\n$/),
  ]);
});

test('records leave the journal with the time that was set', async () => {
  const { database, url, close } = await openTestDatabase('sqlite');
  const dataDir = mkdtempSync(join(tmpdir(), 'sluice-'));
  const journal = await openJournal({ dataDir, databaseUrl: url, maxSize: 2 ** 30, replay: 300 });
  await journal.append(record('req_1'));
  await expect.poll(() => journal.depth, { timeout: 10_000 }).toBe(0);
  await expect
    .poll(async () => (await replayJournal(dataDir, database)).records, { timeout: 10_000 })
    .toBe(0);
  await journal.close();
  await close();
  rmSync(dataDir, { recursive: true });
});

test.skipIf(isSkipped('postgres'))(
  'a PostgreSQL that is as it was a moment before gets its rows back, while the gateway runs',
  async () => {
    const { url, close } = await openTestDatabase('postgres');
    const dataDir = mkdtempSync(join(tmpdir(), 'sluice-'));
    const name = new URL(url).pathname.slice(1);
    const before = `${name}_before`;
    await append(dataDir, url, ['req_1', 'req_2']);
    const server = new pg.Client({ connectionString: new URL('/postgres', url).href });
    await server.connect();
    await server.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`,
    );
    await server.query(`create database ${before} template ${name}`);
    await append(dataDir, url, ['req_3', 'req_4']);

    const beforeUrl = new URL(`/${before}`, url).href;
    const restored = openDatabase({ url: beforeUrl });
    await keepPrice(restored);
    const journal = await openJournal({ dataDir, databaseUrl: beforeUrl, maxSize: 2 ** 30 });
    await journal.append(record('req_5', { charge: charge(7n) }));
    expect(await replayJournal(dataDir, restored)).toMatchObject({ records: 5 });
    await journal.close(30_000);
    const rows = await restored.kysely.selectFrom('usage').select('id').orderBy('id').execute();
    expect(rows.map(({ id }) => id)).toEqual(['req_1', 'req_2', 'req_3', 'req_4', 'req_5']);
    const differences: Difference[] = [];
    await reconcile(restored, {}, (difference) => differences.push(difference));
    expect(differences).toEqual([]);
    await restored.close();
    await server.query(`drop database ${before}`);
    await server.end();
    await close();
    rmSync(dataDir, { recursive: true });
  },
);
