import { sql } from 'kysely';
import { createMigrations, lastNumber, type Steps, unreleased } from './migrations/index.ts';
import type { OpenDatabase } from './open.ts';
import { oldestWriterOf } from './revisions.ts';

/**
 * Checks that this program may work on the tables: they are its own, or a newer program's that let it. Changes nothing.
 * @throws Error with a message for the operator if not.
 */
export async function assertMigrated(database: OpenDatabase): Promise<void> {
  const steps = createMigrations(database.dialect);
  const state = await readState(database, steps);
  if (state === 'empty') {
    throw new Error("the database has no tables yet: run 'sluice migrate' or start the gateway");
  }
  if (state === 'unreleased' || state === 'older') {
    throw new Error(
      "the database schema is older than this version: run 'sluice migrate' or start the gateway",
    );
  }
}

/**
 * How the tables are, compared with the steps that the program knows. `unreleased`: made by the last unreleased version,
 * and those of the first step. `newer`: a newer program has changed them, and lets this one work beside it.
 * @throws Error with a message for the operator if the program must not work on them.
 */
export async function readState(
  database: OpenDatabase,
  steps: Steps,
): Promise<'empty' | 'unreleased' | 'older' | 'current' | 'newer'> {
  const doneNames = await doneSteps(database);
  if (doneNames.length === 0) return 'empty';
  if (doneNames.includes(unreleased.first)) {
    if (doneNames.includes(unreleased.last)) return 'unreleased';
    throw new Error(
      "the database was made before the first release: run 'sluice migrate' of the version tagged pre-squash once, then this one",
    );
  }
  const ownNames = Object.keys(steps);
  const unknown = doneNames.toSorted().find((name) => !ownNames.includes(name));
  const isMissing = ownNames.some((name) => !doneNames.includes(name));
  if (unknown === undefined) return isMissing ? 'older' : 'current';
  if (isMissing || (await oldestWriterOf(database.kysely)) > lastNumber(steps)) {
    throw new Error(
      `the database needs a newer version of sluice (it has step '${unknown}', and this version knows the steps up to ` +
        `'${ownNames.at(-1)}'): run the newer version, also for 'sluice migrate'`,
    );
  }
  return 'newer';
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
