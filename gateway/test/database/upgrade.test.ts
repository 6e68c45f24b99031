import { sql } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import { assertMigrated, commitDurably, migrate, type OpenDatabase } from '#database/index.ts';
import { createMigrations, type Step, type Steps, unreleased } from '#database/migrations/index.ts';
import { readRevisions } from '#database/revisions.ts';
import {
  createTestDatabase,
  dialects,
  isSkipped,
  openTestDatabase,
  openWithFirstTables,
} from './databases.ts';

describe.each(dialects)('%s', (dialect) => {
  const openUnreleased = async (steps: readonly string[]) => {
    const { url, drop } = await createTestDatabase(dialect);
    onTestFinished(drop);
    const database = await openWithFirstTables(url);
    onTestFinished(() => database.close());
    const { kysely } = database;
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

  describe.skipIf(isSkipped(dialect))('beside a newer program', () => {
    const own = createMigrations(dialect);
    const adds: Step = { up: (db) => sql`create table later (id integer)`.execute(db) as never };
    const breaks: Step = {
      breaks: true,
      up: (db) => sql`alter table usage drop column late`.execute(db) as never,
    };
    const openNewer = async (added: Steps) => {
      const { database, close } = await openTestDatabase(dialect);
      onTestFinished(close);
      expect(await migrate(database, { ...own, ...added })).toEqual({ isNewer: false });
      return database;
    };
    const everything = async ({ kysely }: OpenDatabase) => [
      (await sql`select * from kysely_migration order by name`.execute(kysely)).rows,
      await kysely.selectFrom('revisions').selectAll().orderBy('name').execute(),
    ];

    it('whose steps only add, this program starts, works, and changes no table', async () => {
      const database = await openNewer({ '9998-adds': adds });
      const before = await everything(database);
      expect(await migrate(database)).toEqual({ isNewer: true });
      await assertMigrated(database);
      expect(await everything(database)).toEqual(before);
      expect(await readRevisions(database.kysely)).toMatchObject({ isOutdated: false });
    });

    it('that excludes it, this program ends with a sentence, and changes nothing', async () => {
      const database = await openNewer({ '9998-adds': adds, '9999-breaks': breaks });
      const before = await everything(database);
      for (const start of [migrate, assertMigrated]) {
        await expect(start(database)).rejects.toThrow(
          `the database needs a newer version of sluice (it has step '9998-adds', and this version knows the steps up to '${Object.keys(own).at(-1)}')`,
        );
      }
      expect(await everything(database)).toEqual(before);
      expect(await readRevisions(database.kysely)).toMatchObject({ isOutdated: true });
      const writes = database.kysely.transaction().execute((trx) => commitDurably(trx, dialect));
      await expect(writes).rejects.toThrow('the database needs a newer version of sluice');
    });

    it('with the newest of the steps that break it may work, with the one before it not', async () => {
      const steps = { ...own, '9998-breaks': breaks, '9999-adds': adds };
      const database = await openNewer({ '9998-breaks': breaks, '9999-adds': adds });
      const { '9999-adds': _last, ...middle } = steps;
      expect(await migrate(database, middle)).toEqual({ isNewer: true });
      await expect(migrate(database, own)).rejects.toThrow('needs a newer version');
    });

    it('a step that fails excludes nobody', async () => {
      const { database, close } = await openTestDatabase(dialect);
      onTestFinished(close);
      const fails: Step = { breaks: true, up: () => Promise.reject(new Error('no room')) };
      await expect(migrate(database, { ...own, '9999-fails': fails })).rejects.toThrow(
        "the database could not be brought up to date at step '9999-fails': no room",
      );
      expect(await readRevisions(database.kysely)).toMatchObject({ isOutdated: false });
    });
  });

  it.skipIf(isSkipped(dialect))('names the way from one that is older', async () => {
    const { database, stepsNow } = await openUnreleased([first, '0026-reading']);
    await expect(migrate(database)).rejects.toThrow(
      "run 'sluice migrate' of the version tagged pre-squash once, then this one",
    );
    expect(await stepsNow()).toHaveLength(2);
  });
});
