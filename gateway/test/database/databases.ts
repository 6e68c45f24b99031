import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import pg from 'pg';
import {
  createChange,
  createRevisionWatch,
  createSecrets,
  migrate,
  openDatabase,
} from '#database/index.ts';
import type { Change, OpenDatabase, Owner, RevisionWatch } from '#database/index.ts';

const postgresUrl = process.env.SLUICE_TEST_POSTGRES ?? 'postgres://postgres@127.0.0.1:5432/test';

export const postgresAnswers = await answers();
if (!postgresAnswers && process.env.CI !== undefined) {
  throw new Error(`no PostgreSQL at ${postgresUrl}, which this run requires`);
}

/**
 * For `describe.each`: every database that the gateway runs on. PostgreSQL is skipped, visibly, if it is unreachable.
 */
export const dialects = ['sqlite', 'postgres'] as const;
export type Dialect = (typeof dialects)[number];
export const isSkipped = (dialect: Dialect) => dialect === 'postgres' && !postgresAnswers;

export interface TestDatabase {
  readonly url: string;
  /** Removes all traces. */
  drop(): Promise<void>;
}

/**
 * An empty database of its own: a file in a temporary folder, or a database on the server. A schema would be cheaper,
 * but migrations look at all schemas of a database, and fail when one disappears under their eyes.
 */
export async function createTestDatabase(dialect: Dialect): Promise<TestDatabase> {
  if (dialect === 'sqlite') {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-'));
    return {
      url: `sqlite:${join(folder, 'test.db')}`,
      drop: async () => rmSync(folder, { recursive: true, force: true }),
    };
  }
  const name = `test_${randomBytes(6).toString('hex')}`;
  await administer(`create database ${name} template template0`);
  const url = new URL(postgresUrl);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => administer(`drop database ${name} with (force)`) };
}

/** The same with tables in it. */
export async function openTestDatabase(
  dialect: Dialect,
): Promise<{ readonly database: OpenDatabase; readonly url: string; close(): Promise<void> }> {
  const { url, drop } = await createTestDatabase(dialect);
  const database = openDatabase({ url });
  await migrate(database);
  return {
    database,
    url,
    async close() {
      await database.close();
      await drop();
    },
  };
}

export const testSecrets = createSecrets(Buffer.alloc(32, 7));

/** Runs a change in a transaction of its own. */
export function change<Result>(
  { kysely }: OpenDatabase,
  run: (change: Change) => Promise<Result>,
  owner: Owner = 'file',
): Promise<Result> {
  return kysely
    .transaction()
    .execute((trx) => run(createChange(trx, { owner, secrets: testSecrets, now: 1_000 })));
}

/** A watch that looks only when it is asked to. */
export const watchByHand = ({ kysely }: OpenDatabase): RevisionWatch =>
  createRevisionWatch({ database: { kysely, listen: null }, interval: 2 ** 30 });

/** The backends of nodes that listen for changes. */
export const listenersOf = async ({ kysely }: OpenDatabase): Promise<number[]> => {
  const { rows } = await sql<{ pid: number }>`
    select pid from pg_stat_activity
    where datname = current_database() and query = 'listen sluice_changes' and state = 'idle'`.execute(
    kysely,
  );
  return rows.map(({ pid }) => pid);
};

async function administer(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: postgresUrl });
  await client.connect();
  await client.query(statement);
  await client.end();
}

async function answers(): Promise<boolean> {
  try {
    await administer('select 1');
    return true;
  } catch {
    return false;
  }
}
