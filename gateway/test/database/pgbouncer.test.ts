import { spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { migrate, openDatabase } from '#database/index.ts';
import { freePort } from '../support/free-port.ts';
import { createTestDatabase, isSkipped, type TestDatabase } from './databases.ts';
import { account } from './private-postgres.ts';

const program = '/usr/sbin/pgbouncer';
const canStart = existsSync(program);
if (!canStart && process.env.CI !== undefined) {
  throw new Error(`no ${program}, which this run requires`);
}

/** One server connection, so that every client shares its session with all others. */
describe.skipIf(!canStart || isSkipped('postgres'))('PgBouncer in transaction mode', () => {
  let target: TestDatabase;
  let bouncer: ChildProcess;
  let folder: string;
  /** The address by way of PgBouncer. */
  let through: string;

  beforeAll(async () => {
    target = await createTestDatabase('postgres');
    const url = new URL(target.url);
    folder = mkdtempSync(join(tmpdir(), 'sluice-pgbouncer-'));
    // It runs as another user than this process does.
    chmodSync(folder, 0o755);
    const port = await freePort();
    const file = join(folder, 'pgbouncer.ini');
    const lines = [
      '[databases]',
      `* = host=${url.hostname} port=${url.port === '' ? '5432' : url.port} user=${url.username}`,
      '[pgbouncer]',
      'listen_addr = 127.0.0.1',
      `listen_port = ${port}`,
      'unix_socket_dir =',
      'auth_type = any',
      'pool_mode = transaction',
      'default_pool_size = 1',
      '',
    ];
    writeFileSync(file, lines.join('\n'), { mode: 0o644 });
    bouncer = spawn(program, ['--quiet', file], { ...account, stdio: 'ignore' });
    url.hostname = '127.0.0.1';
    url.port = String(port);
    through = url.href;
    while (!(await answers())) await wait(20);
  });
  afterAll(async () => {
    bouncer.kill('SIGKILL');
    rmSync(folder, { recursive: true });
    await target.drop();
  });

  async function answers(): Promise<boolean> {
    if (bouncer.exitCode !== null) throw new Error('PgBouncer does not start');
    const client = new pg.Client({ connectionString: through });
    client.on('error', () => {});
    try {
      await client.connect();
      await client.end();
      return true;
    } catch {
      return false;
    }
  }

  function open(statementTimeout: number) {
    const database = openDatabase({ url: through, statementTimeout });
    onTestFinished(() => database.close());
    return database;
  }

  const timeoutOf = async (kysely: ReturnType<typeof open>['kysely']) => {
    const { rows } = await sql<{ value: string }>`
      select current_setting('statement_timeout') as value`.execute(kysely);
    return rows[0]?.value;
  };

  it('lets the tables be made and read', async () => {
    await migrate(open(0));
    const read = open(1_000).kysely.selectFrom('groups').selectAll().execute();
    expect(await read).toEqual(expect.any(Array));
  });

  it('gives each transaction its own time-out, and others none of it', async () => {
    const maintenance = open(0);
    const before = await timeoutOf(maintenance.kysely);
    for (const milliseconds of [1_000, 7_000]) {
      const { kysely } = open(milliseconds);
      const within = await kysely.transaction().execute((trx) => timeoutOf(trx));
      expect(within).toBe(`${milliseconds / 1_000}s`);
      const strict = kysely.transaction().setIsolationLevel('serializable');
      expect(await strict.execute((trx) => timeoutOf(trx))).toBe(within);
    }
    expect(await timeoutOf(maintenance.kysely)).toBe(before);
  });

  it('gives each transaction our isolation level, unless it asks for another', async () => {
    const { kysely } = open(1_000);
    const name = sql.id(new URL(target.url).pathname.slice(1));
    await sql`alter database ${name} set default_transaction_isolation = 'serializable'`.execute(
      kysely,
    );
    await sql`select pg_terminate_backend(pg_backend_pid())`.execute(kysely).catch(() => {});
    const levelOf = async (db: typeof kysely) => {
      const { rows } = await sql<{ value: string }>`
        select current_setting('transaction_isolation') as value`.execute(db);
      return rows[0]?.value;
    };
    await expect.poll(() => levelOf(kysely).catch(() => null)).toBe('serializable');
    expect(await kysely.transaction().execute((trx) => levelOf(trx))).toBe('read committed');
    const strict = kysely.transaction().setIsolationLevel('repeatable read');
    expect(await strict.execute((trx) => levelOf(trx))).toBe('repeatable read');
  });
});
