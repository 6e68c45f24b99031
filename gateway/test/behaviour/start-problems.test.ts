import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createTestDatabase, isSkipped } from '../database/databases.ts';
import { freePort } from '../support/free-port.ts';
import { startGatewayProcess } from '../support/gateway-process.ts';

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-start-problems-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The output of a failed start: one sentence, never a stack. */
async function failure(file: string, folder = makeFolder()): Promise<string> {
  writeFileSync(join(folder, 'sluice.yaml'), file);
  const gateway = startGatewayProcess({ folder });
  onTestFinished(() => void gateway.child.kill('SIGKILL'));
  expect(await gateway.exit).toBe(1);
  expect(gateway.stdout()).toBe('');
  const [sentence = '', ...rest] = gateway.stderr().split('\n');
  expect(rest).toEqual(['']);
  return sentence.replace(folder, 'FOLDER');
}

async function portOf(server: ReturnType<typeof createServer>): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as { port: number }).port;
}

/* Each is one process or several, which start slowly on a machine that does other work. */
describe('a failed start', { timeout: 60_000 }, () => {
  test('names an unusable database without its password', async () => {
    const port = await freePort();
    const url = `postgres://sluice:canary@127.0.0.1:${port}/sluice`;
    expect(await failure(`server: { port: 0 }\nstorage: { url: "${url}" }`)).toBe(
      `sluice: storage.url: the database at 127.0.0.1:${port} cannot be used: nothing is listening there (ECONNREFUSED)`,
    );
    // The path is the folder of the journal, not a file.
    expect(await failure('server: { port: 0 }\nstorage: { url: "sqlite:./data" }')).toBe(
      'sluice: storage.url: the database file FOLDER/data cannot be used: unable to open database file',
    );
  });

  test('names a port that is in use', async () => {
    const taken = createServer();
    onTestFinished(() => void taken.close());
    const port = await portOf(taken);
    expect(await failure(`server: { port: ${port} }`)).toBe(
      `sluice: server.port: 127.0.0.1:${port} is in use by another program`,
    );
    expect(await failure('server: { host: 203.0.113.7, port: 0 }')).toBe(
      'sluice: server.host: this machine has no address 203.0.113.7',
    );
  });

  test('leaves the secrets of a first start unshown if the port or the certificate is the problem', async () => {
    const taken = createServer();
    onTestFinished(() => void taken.close());
    const port = await portOf(taken);
    const folder = makeFolder();
    expect(await failure(`server: { port: ${port} }`, folder)).toMatch(
      /in use by another program$/,
    );
    await failure('server: { port: 0, tls: { cert: a.pem, key: b.pem } }', folder);
    writeFileSync(join(folder, 'sluice.yaml'), 'server: { port: 0 }');
    const gateway = startGatewayProcess({ folder });
    onTestFinished(() => void gateway.child.kill('SIGKILL'));
    await gateway.url;
    expect(gateway.stdout()).toMatch(/\nadmin: admin@localhost \S+\nkey: sk-\S+\n/);
    gateway.child.kill('SIGINT');
    expect(await gateway.exit).toBe(0);
  });

  test('says what is wrong with the data folder', async () => {
    const folder = makeFolder();
    writeFileSync(join(folder, 'data'), '');
    expect(await failure('server: { port: 0 }', folder)).toBe(
      'sluice: storage.data_dir: the folder FOLDER/data cannot be used: it is a file',
    );
    const damaged = makeFolder();
    mkdirSync(join(damaged, 'data'), { mode: 0o700 });
    const journal = join(damaged, 'data/journal.db');
    writeFileSync(journal, 'no journal'.repeat(1000), { mode: 0o600 });
    expect(await failure('server: { port: 0 }', damaged)).toBe(
      'sluice: storage.data_dir: FOLDER/data/journal.db cannot be used: file is not a database',
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
      /^sluice: the database could not be brought up to date at step '[^']+': table \S*users\S* already exists$/,
    );
  });

  test('names the file of a bad certificate', async () => {
    expect(await failure('server: { port: 0, tls: { cert: a.pem, key: b.pem } }')).toBe(
      'sluice: server.tls.cert: FOLDER/a.pem: there is no such file',
    );
    const folder = makeFolder();
    writeFileSync(join(folder, 'a.pem'), 'no certificate');
    expect(await failure('server: { port: 0, tls: { cert: a.pem, key: b.pem } }', folder)).toBe(
      'sluice: server.tls.key: FOLDER/b.pem: there is no such file',
    );
    expect(await failure('server: { port: 0, tls: { cert: a.pem, key: a.pem } }', folder)).toMatch(
      /^sluice: server\.tls: FOLDER\/a\.pem and \S+ are not a certificate and its key in PEM form: /,
    );
  });

  test('says that the database is newer', async () => {
    const folder = makeFolder();
    writeFileSync(join(folder, 'sluice.yaml'), 'server: { port: 0 }');
    const first = startGatewayProcess({ folder });
    onTestFinished(() => void first.child.kill('SIGKILL'));
    await Promise.race([first.url, first.exit]);
    first.child.kill('SIGINT');
    await first.exit;
    const database = new DatabaseSync(join(folder, 'data/sluice.db'));
    database.exec("insert into kysely_migration values ('9999-later', '2099-01-01T00:00:00Z')");
    database.close();
    expect(await failure('server: { port: 0 }', folder)).toBe(
      "sluice: the database schema is newer than this version (step '9999-later'): run the newer version of sluice, also for 'sluice migrate'",
    );
  });

  test.skipIf(isSkipped('postgres'))('says which master key it needs', async () => {
    const { url, drop } = await createTestDatabase('postgres');
    onTestFinished(drop);
    // The database has no sealed data, so neither credentials nor keys could reveal the wrong master key.
    const file = `server: { port: 0 }\nstorage: { url: ${JSON.stringify(url)} }\n`;
    const folder = makeFolder();
    writeFileSync(join(folder, 'sluice.yaml'), file);
    for (let start = 0; start < 2; start += 1) {
      const gateway = startGatewayProcess({ folder });
      onTestFinished(() => void gateway.child.kill('SIGKILL'));
      await gateway.url;
      gateway.child.kill('SIGINT');
      expect(await gateway.exit).toBe(0);
    }
    expect(await failure(file)).toBe(
      'sluice: secrets.master_key: the database was created with another master key; give this node that key, as secrets.master_key or as the file master.key in storage.data_dir',
    );
  });
});
