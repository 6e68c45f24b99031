import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { freePort } from '../support/free-port.ts';

/** Where the packages put their servers, a folder for each version. */
const versions = '/usr/lib/postgresql';
const newest = existsSync(versions)
  ? readdirSync(versions)
      .filter((version) => existsSync(join(versions, version, 'bin/initdb')))
      .toSorted((a, b) => Number(b) - Number(a))[0]
  : undefined;

/** False where there is no program to start: tests of faults need a PostgreSQL that nobody else uses. */
export const canStartPostgres = newest !== undefined;
if (!canStartPostgres && process.env.CI !== undefined) {
  throw new Error(`no PostgreSQL server in ${versions}, which this run requires`);
}

export interface PrivatePostgres {
  readonly port: number;
  /** Of an empty database. */
  readonly url: string;
  /** One statement, on a connection of its own. */
  query(statement: string): Promise<readonly Record<string, unknown>[]>;
  /** It stops responding, and keeps its connections. */
  freeze(): void;
  thaw(): void;
  /** Ends all of its processes, as a crash does. */
  kill(): Promise<void>;
  /** Again on the same port, on what is in its folder. */
  start(): Promise<void>;
  /** Copies its folder while it does not run. */
  keepCopy(): void;
  /** Puts the copy in the place of its folder, while it does not run. */
  restoreCopy(): void;
  /** Ends it and removes its folders. */
  close(): Promise<void>;
}

/** As root, a server runs as the system's user for it: it refuses to run as root. */
export const account = process.getuid?.() === 0 ? accountOf('postgres') : null;

function accountOf(name: string): { readonly uid: number; readonly gid: number } {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((each) => each.startsWith(`${name}:`));
  const [, , uid, gid] = line?.split(':') ?? [];
  return { uid: Number(uid), gid: Number(gid) };
}

/** False for one that has ended and that nobody has asked how. */
function isRunning(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

/**
 * A PostgreSQL server of this test's own, on a free port.
 *
 * @param settings as on its command line, such as `synchronous_commit=off`
 */
export async function startPrivatePostgres(
  settings: readonly string[] = [],
): Promise<PrivatePostgres> {
  const bin = join(versions, String(newest), 'bin');
  const folder = mkdtempSync(join(tmpdir(), 'sluice-postgres-'));
  if (account !== null) chownSync(folder, account.uid, account.gid);
  const data = join(folder, 'data');
  const copy = join(folder, 'copy');
  const environment = { PATH: process.env.PATH, LC_ALL: 'C.UTF-8' };
  execFileSync(
    join(bin, 'initdb'),
    [
      '--pgdata',
      data,
      '--auth',
      'trust',
      '--username',
      'postgres',
      '--encoding',
      'UTF8',
      '--no-sync',
      '--wal-segsize',
      '1',
    ],
    { ...account, env: environment, stdio: 'ignore' },
  );
  const port = await freePort();
  const url = `postgres://postgres@127.0.0.1:${port}/sluice`;
  const all = [
    'listen_addresses=127.0.0.1',
    `unix_socket_directories=${folder}`,
    `port=${port}`,
    'shared_buffers=32MB',
    ...settings,
  ];
  let server: ChildProcess | null = null;
  let gone: Promise<unknown> = Promise.resolve();

  const query: PrivatePostgres['query'] = async (statement) => {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
    client.on('error', () => {});
    await client.connect();
    try {
      return (await client.query<Record<string, unknown>>(statement)).rows;
    } finally {
      await client.end().catch(() => {});
    }
  };

  const start = async (): Promise<void> => {
    const parameters = ['-D', data, ...all.flatMap((setting) => ['-c', setting])];
    const started = spawn(join(bin, 'postgres'), parameters, {
      ...account,
      env: environment,
      stdio: 'ignore',
    });
    server = started;
    gone = new Promise((resolve) => started.once('exit', resolve));
    for (let tries = 0; ; tries += 1) {
      const answers = await query('select 1').then(
        () => true,
        (error: { readonly code?: string }) => error.code === '3D000',
      );
      if (answers) return;
      if (tries > 500) throw new Error('the private PostgreSQL does not start');
      await wait(20);
    }
  };

  /** The server's processes, the first one last: it would replace those that end. */
  const processes = (): number[] => {
    const first = server?.pid;
    if (first === undefined) return [];
    const children = readFileSync(`/proc/${first}/task/${first}/children`, 'utf8');
    return [...children.split(' ').filter(Boolean).map(Number), first];
  };
  const signal = (pid: number, name: NodeJS.Signals): void => {
    try {
      process.kill(pid, name);
    } catch {
      // It has ended by itself.
    }
  };

  const kill = async (): Promise<void> => {
    if (server === null) return;
    signal(server.pid!, 'SIGSTOP');
    const all = processes();
    for (const pid of all) signal(pid, 'SIGKILL');
    await gone;
    server = null;
    // A server does not start while a process of the last one has its memory.
    for (const pid of all) while (isRunning(pid)) await wait(5);
  };

  await start();
  const client = new pg.Client({ connectionString: url.replace(/sluice$/, 'postgres') });
  await client.connect();
  await client.query('create database sluice template template0');
  await client.end();
  return {
    port,
    url,
    query,
    freeze() {
      // The first one first, so that it starts no others.
      for (const pid of processes().toReversed()) signal(pid, 'SIGSTOP');
    },
    thaw() {
      for (const pid of processes()) signal(pid, 'SIGCONT');
    },
    kill,
    start,
    keepCopy() {
      rmSync(copy, { recursive: true, force: true });
      execFileSync('cp', ['-a', data, copy]);
    },
    restoreCopy() {
      rmSync(data, { recursive: true });
      execFileSync('cp', ['-a', copy, data]);
    },
    async close() {
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
