import { sql, type Kysely } from 'kysely';
import { Migrator } from 'kysely/migration';
import { assertKnown } from './assert-migrated.ts';
import { createMigrations, firstStep, unreleased } from './migrations/index.ts';
import type { OpenDatabase } from './open.ts';

/**
 * Migrates the tables to this version. Safe when many processes start at once: PostgreSQL holds an advisory lock,
 * SQLite one `begin immediate` transaction around reading the state and all steps.
 * @throws Error that names the failed step, or says that a newer program migrated the database.
 */
export async function migrate(database: OpenDatabase): Promise<void> {
  if (await assertKnown(database)) await joinUnreleasedSteps(database);
  const { kysely, dialect } = database;
  const migrations = createMigrations(dialect);
  const migrator = new Migrator({
    db: kysely,
    provider: { getMigrations: async () => migrations },
    // Without it, Kysely accepts a migration table in any schema as its own.
    ...(dialect === 'postgres' ? { migrationTableSchema: await currentSchema(kysely) } : {}),
  });
  const { error, results } = await migrator.migrateToLatest();
  if (error === undefined) return;
  const failedStep = results?.find((result) => result.status === 'Error')?.migrationName;
  const step = failedStep === undefined ? '' : ` at step '${failedStep}'`;
  const reason = error instanceof Error && error.message !== '' ? `: ${error.message}` : '';
  throw new Error(`the database could not be brought up to date${step}${reason}`, { cause: error });
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
