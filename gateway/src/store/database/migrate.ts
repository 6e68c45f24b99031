import { sql, type Kysely } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import { readState } from './assert-migrated.ts';
import {
  createMigrations,
  firstStep,
  numberOf,
  type Step,
  type Steps,
  unreleased,
} from './migrations/index.ts';
import type { OpenDatabase } from './open.ts';
import { excludeOlderPrograms } from './revisions.ts';

/**
 * Migrates the tables to this version, and changes nothing of a newer one's that let this one work beside it. Safe when
 * many processes start at once: PostgreSQL holds an advisory lock, SQLite one `begin immediate` transaction around
 * reading the state and all steps.
 * @returns whether the tables are a newer version's
 * @throws Error that names the failed step, or says that the database needs a newer version.
 */
export async function migrate(
  database: OpenDatabase,
  steps: Steps = createMigrations(database.dialect),
): Promise<{ readonly isNewer: boolean }> {
  const state = await readState(database, steps);
  if (state === 'newer') return { isNewer: true };
  if (state === 'unreleased') await joinUnreleasedSteps(database);
  const { kysely, dialect } = database;
  const migrations = Object.fromEntries(
    Object.entries(steps).map(([name, step]) => [name, announced(name, step)]),
  );
  const migrator = new Migrator({
    db: kysely,
    provider: { getMigrations: async () => migrations },
    // Without it, Kysely accepts a migration table in any schema as its own.
    ...(dialect === 'postgres' ? { migrationTableSchema: await currentSchema(kysely) } : {}),
  });
  const { error, results } = await migrator.migrateToLatest();
  if (error === undefined) return { isNewer: false };
  // A newer program was at it at the same time.
  if ((await readState(database, steps)) === 'newer') return { isNewer: true };
  const failedStep = results?.find((result) => result.status === 'Error')?.migrationName;
  const step = failedStep === undefined ? '' : ` at step '${failedStep}'`;
  const reason = error instanceof Error && error.message !== '' ? `: ${error.message}` : '';
  throw new Error(`the database could not be brought up to date${step}${reason}`, { cause: error });
}

/** A step that breaks ends the work of older programs in its own transaction. */
function announced(name: string, step: Step): Migration {
  if (step.breaks !== true) return step;
  return {
    async up(db) {
      await excludeOlderPrograms(db, numberOf(name));
      await step.up(db);
    },
  };
}

/** Safe when many processes start at once: the update of one of them finds the row. */
async function joinUnreleasedSteps({ kysely }: OpenDatabase): Promise<void> {
  await kysely.transaction().execute(async (trx) => {
    const { numAffectedRows } = await sql`
      update kysely_migration set name = ${firstStep} where name = ${unreleased.last}`.execute(trx);
    if (numAffectedRows === 1n) {
      await sql`delete from kysely_migration where name <> ${firstStep}`.execute(trx);
    }
  });
}

async function currentSchema(kysely: Kysely<never> | OpenDatabase['kysely']): Promise<string> {
  const { rows } = await sql<{ name: string | null }>`select current_schema() as name`.execute(
    kysely,
  );
  const name = rows[0]?.name;
  if (typeof name !== 'string')
    throw new Error('the database user has no schema to create tables in');
  return name;
}
