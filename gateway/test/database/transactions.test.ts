import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrate, nextRevision, openDatabase, type OpenDatabase } from '#database/index.ts';
import { dialects, isSkipped, openTestDatabase } from './databases.ts';

describe.each(dialects)('%s', (dialect) => {
  describe.skipIf(isSkipped(dialect))('database', () => {
    let opened: Awaited<ReturnType<typeof openTestDatabase>>;
    let database: OpenDatabase;
    beforeAll(async () => {
      opened = await openTestDatabase(dialect);
      ({ database } = opened);
    });
    afterAll(() => opened.close());

    it('returns money as bigint beyond 2^53 and other integers as number', async () => {
      const amount = 2n ** 62n + 1n;
      await database.kysely
        .insertInto('teams')
        .values({
          id: 'team_1',
          name: 'a',
          groups: '[]',
          time_zone: 'UTC',
          opening_credit: amount,
          budget_daily: -amount,
          rpm: 5,
          owner: 'file',
          enabled: 1,
          created_at: 1_760_000_000_000,
          updated_at: 0,
          revision: 1,
        })
        .execute();
      const row = await database.kysely.selectFrom('teams').selectAll().executeTakeFirstOrThrow();
      expect(row).toMatchObject({
        opening_credit: amount,
        budget_daily: -amount,
        budget_total: null,
        rpm: 5,
        enabled: 1,
        created_at: 1_760_000_000_000,
      });
      const sums = await database.kysely
        .selectFrom('teams')
        .select(({ fn }) => [
          fn.sum<bigint>('opening_credit').as('opening_credit'),
          fn.countAll<number>().as('teams'),
        ])
        .executeTakeFirstOrThrow();
      expect(sums).toEqual({ opening_credit: amount, teams: 1 });
    });

    it('rolls a failed transaction back, also for concurrent readers', async () => {
      const before = await revision(database);
      const failing = database.kysely.transaction().execute(async (trx) => {
        await nextRevision(trx);
        expect(await revision(database)).toBe(before);
        throw new Error('stop');
      });
      await expect(failing).rejects.toThrow('stop');
      expect(await revision(database)).toBe(before);
    });

    it('loses no increment of parallel transactions', async () => {
      const before = await revision(database);
      const numbers = await Promise.all(
        Array.from({ length: 40 }, () => database.kysely.transaction().execute(nextRevision)),
      );
      expect(new Set(numbers).size).toBe(40);
      expect(await revision(database)).toBe(before + 40);
    });

    it('continues after a statement that failed inside a transaction', async () => {
      const failing = database.kysely.transaction().execute(async (trx) => {
        await sql`insert into revisions (name, value) values ('global', 1)`.execute(trx);
      });
      await expect(failing).rejects.toThrow(/unique|duplicate/i);
      await database.kysely.transaction().execute(nextRevision);
    });

    it('treats quotes, wildcards and SQL as text', async () => {
      const texts = [
        `'; drop table users; --`,
        '%',
        '_',
        String.raw`\'`,
        '"',
        '$1',
        '?',
        'é\u2028',
      ];
      for (const text of texts) {
        await database.kysely
          .insertInto('aliases')
          .values({
            name: text,
            model: text,
            owner: 'file',
            enabled: 1,
            created_at: 0,
            updated_at: 0,
            revision: 0,
          })
          .execute();
        const rows = await database.kysely
          .selectFrom('aliases')
          .select('model')
          .where('name', '=', text)
          .execute();
        expect(rows).toEqual([{ model: text }]);
      }
      await database.kysely.selectFrom('users').selectAll().execute();
    });

    it('keeps the schema when it is migrated again', async () => {
      await migrate(database);
      await migrate(database);
      expect(await revision(database)).toBeGreaterThan(0);
    });
  });
});

it('names the setting of a URL of unknown kind', () => {
  expect(() => openDatabase({ url: 'mysql://root:secret@host/db' })).toThrow(
    "storage.url: expected sqlite:<file> or postgres://…, got 'mysql://…@host/db'",
  );
});

async function revision({ kysely }: OpenDatabase): Promise<number> {
  const row = await kysely.selectFrom('revisions').select('value').executeTakeFirstOrThrow();
  return row.value;
}
