import { sql } from 'kysely';
import { createMigrations } from './migrations/index.ts';
import type { OpenDatabase } from './open.ts';

/**
 * Checks that the tables match this program; changes nothing.
 * @throws Error with a message for the operator if they do not.
 */
export async function assertMigrated(database: OpenDatabase): Promise<void> {
  const done = await doneSteps(database);
  assertNotNewer(database, done);
  if (done.length === 0) {
    throw new Error("the database has no tables yet: run 'sluice migrate' or start the gateway");
  }
  if (done.length < stepsOf(database).length) {
    throw new Error(
      "the database schema is older than this version: run 'sluice migrate' or start the gateway",
    );
  }
}

/** @throws Error if the database has migration steps that this program does not know. */
export async function assertKnown(database: OpenDatabase): Promise<void> {
  assertNotNewer(database, await doneSteps(database));
}

function assertNotNewer(database: OpenDatabase, done: readonly string[]): void {
  const steps = stepsOf(database);
  const unknown = done.find((name) => !steps.includes(name));
  if (unknown === undefined) return;
  throw new Error(
    `the database schema is newer than this version (step '${unknown}'): run the newer version of sluice, also for 'sluice migrate'`,
  );
}

function stepsOf({ dialect }: OpenDatabase): string[] {
  return Object.keys(createMigrations(dialect));
}

async function doneSteps({ kysely, dialect }: OpenDatabase): Promise<string[]> {
  const table =
    dialect === 'postgres'
      ? sql`select 1 from pg_tables where schemaname = current_schema() and tablename = 'kysely_migration'`
      : sql`select 1 from sqlite_master where type = 'table' and name = 'kysely_migration'`;
  if ((await table.execute(kysely)).rows.length === 0) return [];
  const { rows } = await sql<{ name: string }>`select name from kysely_migration`.execute(kysely);
  return rows.map(({ name }) => name);
}
