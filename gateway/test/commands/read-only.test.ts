import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { unreleased } from '#database/migrations/index.ts';
import { openWithFirstTables } from '../database/databases.ts';
import { createWorkplace } from './support.ts';

const commands = [
  'plan',
  'export',
  'key list',
  'usage',
  'usage --by model',
  'tasks',
  'admin-key list',
  'channel list',
  'audit',
  'reconcile',
];

function change(folder: string, statement: string): void {
  const database = new DatabaseSync(join(folder, 'data/sluice.db'));
  database.exec(`${statement}; pragma wal_checkpoint(truncate)`);
  database.close();
}

describe.each(commands)('%s', (command) => {
  const words = command.split(' ');

  test('reads a database of this version', async () => {
    const { sluice } = createWorkplace('users: []');
    await sluice('apply');
    expect(await sluice(...words)).toMatchObject({ code: 0, err: '' });
  });

  test('leaves an older database unchanged and says what to do', async () => {
    const { sluice, folder } = createWorkplace('users: []');
    const file = join(folder, 'data/sluice.db');
    mkdirSync(join(folder, 'data'), { mode: 0o700 });
    await (await openWithFirstTables(`sqlite:${file}`)).close();
    const { first, last } = unreleased;
    change(folder, `update kysely_migration set name = '${last}'`);
    change(folder, `insert into kysely_migration values ('${first}', '2026-11-01T00:00:00Z')`);
    const before = readFileSync(file);
    expect(await sluice(...words)).toEqual({
      code: 1,
      out: '',
      err: "sluice: the database schema is older than this version: run 'sluice migrate' or start the gateway\n",
    });
    expect(readFileSync(file).equals(before)).toBe(true);
    expect(await sluice('migrate')).toMatchObject({ code: 0 });
    await sluice('apply');
    expect(await sluice(...words)).toMatchObject({ code: 0, err: '' });
  });

  test('works beside a newer version, until that excludes it', async () => {
    const { sluice, folder } = createWorkplace('users: []');
    await sluice('apply');
    change(folder, "insert into kysely_migration values ('9999-later', '2099-01-01T00:00:00Z')");
    expect(await sluice(...words)).toMatchObject({ code: 0, err: '' });
    change(folder, "insert into revisions values ('oldest-writer', 9999)");
    const { code, err } = await sluice(...words);
    expect(err).toContain(
      "the database needs a newer version of sluice (it has step '9999-later', and this version knows the steps up to ",
    );
    expect(code).toBe(1);
  });
});

const changesOfWhatExists = [
  'key create --user ada@example.com --name laptop',
  'key rotate laptop',
  'key revoke laptop',
  'user credit ada@example.com 1 --reason x',
  'team credit research 1 --reason x',
];

test.each([...commands.slice(1), ...changesOfWhatExists])(
  '%s creates no database',
  async (command) => {
    const { sluice, folder } = createWorkplace('users: []');
    const { code, err } = await sluice(...command.split(' '));
    expect(err).toContain('there is no database');
    expect(code).toBe(1);
    expect(existsSync(join(folder, 'data'))).toBe(false);
  },
);

test('a migration needs no master key and claims none', async () => {
  const { sluice, folder } = createWorkplace(null);
  await sluice('migrate');
  expect(existsSync(join(folder, 'data/master.key'))).toBe(false);
  const database = new DatabaseSync(join(folder, 'data/sluice.db'));
  expect(database.prepare('select * from master_key').all()).toEqual([]);
  database.close();
});

test('key list says that a user does not exist', async () => {
  const { sluice } = createWorkplace('users: [{ email: ada@example.com }]');
  await sluice('apply');
  const list = (email: string) => sluice('key', 'list', '--json', '--user', email);
  expect(await list('eve@example.com')).toEqual({
    code: 0,
    out: '[]\n',
    err: "note: there is no user 'eve@example.com'\n",
  });
  expect(await list('ADA@example.com')).toMatchObject({ out: '[]\n', err: '' });
});
