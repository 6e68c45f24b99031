import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createWorkplace } from '../commands/support.ts';
import { createTestDatabase, isSkipped } from '../database/databases.ts';
import { ownAccounts, startInFolder } from '../support/start-in-folder.ts';
import { closedPort } from './support.ts';

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-start-problems-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Why a start fails: one sentence, and the log is silent. */
async function failure(file: string, folder = makeFolder()): Promise<string> {
  writeFileSync(join(folder, 'sluice.yaml'), file);
  const log: string[] = [];
  const { message } = await startInFolder(folder, { log }).then(
    () => new Error('it has started'),
    (error: Error) => error,
  );
  expect(log).toEqual([]);
  expect(message).not.toContain('\n');
  return message.replace(folder, 'FOLDER');
}

test('a file that is not YAML is reported by line', async () => {
  const { code, out, err } = await createWorkplace('server: {\n').sluice('start');
  expect({ code, out }).toEqual({ code: 1, out: '' });
  expect(err).toMatch(/^sluice\.yaml:\d+: /m);
});

describe('a failed start', () => {
  test('names an unusable database without its password', async () => {
    const port = await closedPort();
    const url = `postgres://sluice:canary@127.0.0.1:${port}/sluice`;
    expect(await failure(`server: { port: 0 }\nstorage: { url: "${url}" }`)).toBe(
      `storage.url: the database at 127.0.0.1:${port} cannot be used: nothing is listening there (ECONNREFUSED)`,
    );
    // The path is the folder of the journal, not a file.
    expect(await failure('server: { port: 0 }\nstorage: { url: "sqlite:./data" }')).toBe(
      'storage.url: the database file FOLDER/data cannot be used: unable to open database file',
    );
  });

  test('names an address that this machine does not have', async () => {
    expect(await failure('server: { host: 203.0.113.7, port: 0 }')).toBe(
      'server.host: this machine has no address 203.0.113.7',
    );
  });

  test('leaves the secrets of a first start unshown if the port or the certificate is the problem', async () => {
    const taken = createServer();
    onTestFinished(() => void taken.close());
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const { port } = taken.address() as AddressInfo;
    const folder = makeFolder();
    expect(await failure(`server: { port: ${port} }`, folder)).toMatch(
      /in use by another program$/,
    );
    await failure('server: { port: 0, tls: { cert: a.pem, key: b.pem } }', folder);
    const [channels = ''] = ownAccounts.split('users:');
    writeFileSync(join(folder, 'sluice.yaml'), `server: { port: 0 }${channels}`);
    const { greeting } = await startInFolder(folder);
    expect(greeting).toMatch(/\nadmin: admin@localhost \S+\nkey: sk-\S+\n/);
  });

  test('says what is wrong with the data folder', async () => {
    const folder = makeFolder();
    writeFileSync(join(folder, 'data'), '');
    expect(await failure('server: { port: 0 }', folder)).toBe(
      'storage.data_dir: the folder FOLDER/data cannot be used: it is a file',
    );
    const damaged = makeFolder();
    mkdirSync(join(damaged, 'data'), { mode: 0o700 });
    const journal = join(damaged, 'data/journal.db');
    writeFileSync(journal, 'no journal'.repeat(1000), { mode: 0o600 });
    expect(await failure(`server: { port: 0 }${ownAccounts}`, damaged)).toBe(
      'storage.data_dir: FOLDER/data/journal.db cannot be used: file is not a database',
    );
  });

  test('passes on what the database says about a damaged table', async () => {
    const folder = makeFolder();
    mkdirSync(join(folder, 'data'), { mode: 0o700 });
    const file = join(folder, 'data/sluice.db');
    const database = new DatabaseSync(file);
    database.exec('create table users (id integer)');
    database.close();
    chmodSync(file, 0o600);
    expect(await failure('server: { port: 0 }', folder)).toMatch(
      /^the database could not be brought up to date at step '[^']+': table \S*users\S* already exists$/,
    );
  });

  test('names the file of a bad certificate', async () => {
    expect(await failure('server: { port: 0, tls: { cert: a.pem, key: b.pem } }')).toBe(
      'server.tls.cert: FOLDER/a.pem: there is no such file',
    );
    const folder = makeFolder();
    writeFileSync(join(folder, 'a.pem'), 'no certificate');
    expect(await failure('server: { port: 0, tls: { cert: a.pem, key: b.pem } }', folder)).toBe(
      'server.tls.key: FOLDER/b.pem: there is no such file',
    );
    expect(await failure('server: { port: 0, tls: { cert: a.pem, key: a.pem } }', folder)).toMatch(
      /^server\.tls: FOLDER\/a\.pem and \S+ are not a certificate and its key in PEM form: /,
    );
  });

  test('starts beside a newer program, until that excludes it', async () => {
    const folder = makeFolder();
    const file = `server: { port: 0 }${ownAccounts}`;
    writeFileSync(join(folder, 'sluice.yaml'), file);
    await (await startInFolder(folder)).close();
    const database = new DatabaseSync(join(folder, 'data/sluice.db'));
    database.exec("insert into kysely_migration values ('9999-later', '2099-01-01T00:00:00Z')");
    await (await startInFolder(folder)).close();
    database.exec("insert into revisions values ('oldest-writer', 9999)");
    database.close();
    expect(await failure(file, folder)).toMatch(
      /^the database needs a newer version of sluice \(it has step '9999-later', and this version knows the steps up to '[^']+'\): run the newer version, also for 'sluice migrate'$/,
    );
  });

  test.skipIf(isSkipped('postgres'))('says which master key it needs', async () => {
    const { url, drop } = await createTestDatabase('postgres');
    onTestFinished(drop);
    // The database has no sealed data, so neither credentials nor keys could reveal the wrong master key.
    const file = `server: { port: 0 }\nstorage: { url: ${JSON.stringify(url)} }${ownAccounts}`;
    const folder = makeFolder();
    writeFileSync(join(folder, 'sluice.yaml'), file);
    for (let start = 0; start < 2; start += 1) {
      const gateway = await startInFolder(folder);
      await gateway.close();
    }
    expect(await failure(file)).toBe(
      'secrets.master_key: the database was created with another master key; give this node that key, as secrets.master_key or as the file master.key in storage.data_dir',
    );
  });
});
