import { sql } from 'kysely';
import { createMigrations, unreleased } from './migrations/index.ts';
import type { OpenDatabase } from './open.ts';

/**
 * Checks that the tables match this program; changes nothing.
 * @throws Error with a message for the operator if they do not.
 */
export async function assertMigrated(database: OpenDatabase): Promise<void> {
  const stepNames = await doneSteps(database);
  assertNotNewer(database, stepNames);
  if (stepNames.length === 0) {
    throw new Error("the database has no tables yet: run 'sluice migrate' or start the gateway");
  }
  if (stepNames.includes(unreleased.last) || stepNames.length < stepsOf(database).length) {
    throw new Error(
      "the database schema is older than this version: run 'sluice migrate' or start the gateway",
    );
  }
}

/**
 * @returns whether the tables were made by the last unreleased version, and are those of the first step.
 * @throws Error if the database has migration steps that this program does not know.
 */
export async function assertKnown(database: OpenDatabase): Promise<boolean> {
  const stepNames = await doneSteps(database);
  assertNotNewer(database, stepNames);
  return stepNames.includes(unreleased.last);
}

function assertNotNewer(database: OpenDatabase, stepNames: readonly string[]): void {
  if (stepNames.includes(unreleased.first)) {
    if (stepNames.includes(unreleased.last)) return;
    throw new Error(
      "the database was made before the first release: run 'sluice migrate' of the version tagged pre-squash once, then this one",
    );
  }
  const steps = stepsOf(database);
  const unknown = stepNames.find((name) => !steps.includes(name));
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
