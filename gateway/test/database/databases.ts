import { createHash, randomBytes } from 'node:crypto';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
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
import { createMigrations, firstStep, lastNumber } from '#database/migrations/index.ts';
import { excludeOlderPrograms, readRevisions } from '#database/revisions.ts';
import { writeMigratedFile } from '../support/migrated-file.ts';

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
  return postgresDatabase('template0');
}

/** The same as after a first start: copied, which takes a fraction of the time that migrations take. */
export async function createMigratedDatabase(dialect: Dialect): Promise<TestDatabase> {
  if (dialect === 'postgres') return postgresDatabase(await postgresTemplate());
  const database = await createTestDatabase(dialect);
  await writeMigratedFile(database.url.slice('sqlite:'.length));
  return database;
}

async function postgresDatabase(template: string): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  await administer(`create database ${name} template ${template}`);
  return { url: urlOf(name), drop: () => administer(`drop database ${name} with (force)`) };
}

/** The same with this version's tables in it. */
export async function openTestDatabase(
  dialect: Dialect,
): Promise<{ readonly database: OpenDatabase; readonly url: string; close(): Promise<void> }> {
  const { url, drop } = await createMigratedDatabase(dialect);
  const database = openDatabase({ url });
  return {
    database,
    url,
    async close() {
      await database.close();
      await drop();
    },
  };
}

/** An empty database with the tables that the first step makes. */
export async function openWithFirstTables(url: string): Promise<OpenDatabase> {
  const database = openDatabase({ url });
  const { [firstStep]: step } = createMigrations(database.dialect);
  await migrate(database, { [firstStep]: step! });
  return database;
}

export const testSecrets = createSecrets(Buffer.alloc(32, 7));

let template: Promise<string> | null = null;
function postgresTemplate(): Promise<string> {
  return (template ??= createPostgresTemplate());
}

/**
 * A migrated database to copy, which stays on the server: one for each version of the migrations. Of several processes
 * that want it at once, one creates it.
 */
function createPostgresTemplate(): Promise<string> {
  const version = createHash('sha256');
  const migrations = fileURLToPath(new URL('../../src/store/database/', import.meta.url));
  for (const file of globSync('{schema,migrate,migrations/**/*}.ts', {
    cwd: migrations,
  }).toSorted())
    version.update(readFileSync(join(migrations, file)));
  const base = new URL(postgresUrl).pathname.slice(1);
  const name = `${base}_template_${version.digest('hex').slice(0, 12)}`;
  return asAdministrator(async (client) => {
    await client.query('select pg_advisory_lock(hashtext($1))', [name]);
    const { rowCount } = await client.query('select from pg_database where datname = $1', [name]);
    if (rowCount === 1) return name;
    const unfinished = `${name}_new`;
    await client.query(`drop database if exists ${unfinished} with (force)`);
    await client.query(`create database ${unfinished} template template0`);
    const database = openDatabase({ url: urlOf(unfinished) });
    await migrate(database);
    await database.close();
    await client.query(`alter database ${unfinished} rename to ${name}`);
    return name;
  });
}

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

/** The revision of the latest change. */
export const currentRevision = async ({ kysely }: OpenDatabase): Promise<number> =>
  (await readRevisions(kysely)).revision;

/** As if a newer program had made a step beside whose tables this one must not write. */
export const excludeThisProgram = ({ kysely }: OpenDatabase): Promise<void> =>
  kysely.transaction().execute((trx) => excludeOlderPrograms(trx, lastNumber() + 1));

/** The backends of nodes that listen for changes. */
export const listenersOf = async ({ kysely }: OpenDatabase): Promise<number[]> => {
  const { rows } = await sql<{ pid: number }>`
    select pid from pg_stat_activity
    where datname = current_database() and query ~ '^(un)?listen ' and state = 'idle'`.execute(
    kysely,
  );
  return rows.map(({ pid }) => pid);
};

function urlOf(name: string): string {
  const url = new URL(postgresUrl);
  url.pathname = `/${name}`;
  return url.href;
}

async function administer(statement: string): Promise<void> {
  await asAdministrator((client) => client.query(statement));
}

async function asAdministrator<Result>(run: (client: pg.Client) => Promise<Result>) {
  const client = new pg.Client({ connectionString: postgresUrl });
  await client.connect();
  try {
    return await run(client);
  } finally {
    await client.end();
  }
}

async function answers(): Promise<boolean> {
  try {
    await administer('select 1');
    return true;
  } catch {
    return false;
  }
}
