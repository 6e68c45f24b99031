import { sql } from 'kysely';
import { Migrator } from 'kysely/migration';
import { describe, expect, it, onTestFinished } from 'vitest';
import { migrate, openDatabase } from '#database/index.ts';
import { createMigrations, firstStep, unreleased } from '#database/migrations/index.ts';
import { createTestDatabase, dialects, isSkipped } from './databases.ts';

describe.each(dialects)('%s', (dialect) => {
  const openUnreleased = async (steps: readonly string[]) => {
    const { url, drop } = await createTestDatabase(dialect);
    const database = openDatabase({ url });
    onTestFinished(async () => {
      await database.close();
      await drop();
    });
    const { kysely } = database;
    // The tables of all of those steps are those of the first one now.
    const tables = createMigrations(dialect)[firstStep]!;
    const getMigrations = async () => ({ [firstStep]: tables });
    const made = await new Migrator({ db: kysely, provider: { getMigrations } }).migrateToLatest();
    expect(made.error).toBeUndefined();
    await sql`delete from kysely_migration`.execute(kysely);
    for (const [at, name] of steps.entries()) {
      await sql`insert into kysely_migration (name, timestamp) values (${name}, ${`2026-11-0${at + 1}T00:00:00Z`})`.execute(
        kysely,
      );
    }
    await sql`update revisions set value = 7`.execute(kysely);
    const stepsNow = async () =>
      (await sql<{ name: string }>`select name from kysely_migration order by name`.execute(kysely))
        .rows;
    return { database, kysely, stepsNow };
  };
  const { first, last } = unreleased;

  it.skipIf(isSkipped(dialect))(
    'opens a database of the last version before the first release, with all that it holds',
    async () => {
      const { database, kysely, stepsNow } = await openUnreleased([first, '0026-reading', last]);
      await Promise.all([migrate(database), migrate(database)]);
      expect((await stepsNow()).map(({ name }) => name)).toEqual(
        Object.keys(createMigrations(dialect)),
      );
      expect(await kysely.selectFrom('revisions').select('value').execute()).toEqual([
        { value: 7 },
      ]);
    },
  );

  it.skipIf(isSkipped(dialect))('names the way from one that is older', async () => {
    const { database, stepsNow } = await openUnreleased([first, '0026-reading']);
    await expect(migrate(database)).rejects.toThrow(
      "run 'sluice migrate' of the version tagged pre-squash once, then this one",
    );
    expect(await stepsNow()).toHaveLength(2);
  });
});
