import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { openJournal } from '#journal/index.ts';
import type { JournalProblem } from '#journal/index.ts';
import { removeOldUsage } from '#usage/retention.repository.ts';
import { dialects, isSkipped, openTestDatabase } from '../database/databases.ts';
import { charge, record, recordAll } from '../journal/records.ts';

const day = 86_400_000;

describe.each(dialects)('%s', (dialect) => {
  it.skipIf(isSkipped(dialect))('removes rows that are old enough, and no money', async () => {
    const { database, url, close } = await openTestDatabase(dialect);
    const dataDir = mkdtempSync(join(tmpdir(), 'sluice-'));
    const options = { dataDir, databaseUrl: url, maxSize: 2 ** 30 };
    const now = Date.now();
    const first = await openJournal(options);
    await first.append(record('req_old', { time: now - 3 * day, charge: charge(5n) }));
    await first.append(record('req_today', { time: now - 1_000, charge: charge(7n) }));
    await first.close(30_000);
    const ids = async () => {
      const rows = await database.kysely.selectFrom('usage').select('id').orderBy('id').execute();
      return rows.map(({ id }) => id);
    };
    expect(await ids()).toEqual(['req_old', 'req_today']);

    // However short it is asked to be, a day is kept.
    const second = await openJournal({ ...options, keepUsage: 1 });
    await expect.poll(ids).toEqual(['req_today']);
    await second.close();
    const spent = await database.kysely.selectFrom('spent_totals').selectAll().execute();
    expect(spent.map((total) => total.spent)).toEqual([12n, 12n, 12n]);
    rmSync(dataDir, { recursive: true });
    await close();
  });

  it.skipIf(isSkipped(dialect))(
    'B-15 counts nothing twice when a journal comes back after its rows were removed',
    async () => {
      const { database, url, close } = await openTestDatabase(dialect);
      const dataDir = mkdtempSync(join(tmpdir(), 'sluice-'));
      const now = Date.now();
      const old = record('req_old', { time: now - 40 * day, charge: charge(5n) });
      const young = record('req_young', { time: now - 20 * day, charge: charge(7n) });
      const kept = { dataDir, databaseUrl: nowhere(dialect, dataDir), maxSize: 2 ** 30 };
      const killed = await openJournal(kept);
      for (const each of [old, young]) await killed.append(each);
      await killed.close(100);
      // Its node had applied the first, and was killed before it could forget it; another node runs for weeks.
      await recordAll(database, [old]);
      await removeOldUsage(database, now - 30 * day, 10);

      const problems: string[] = [];
      const onProblem = ({ kind }: JournalProblem) => void problems.push(kind);
      const back = await openJournal({ ...kept, databaseUrl: url, onProblem });
      await back.caughtUp;
      // A clock that is wrong by a month: nobody can have applied this before.
      await back.append(record('req_new', { time: now - 40 * day, charge: charge(9n) }));
      await back.close(30_000);
      const spent = await database.kysely.selectFrom('spent_totals').selectAll().execute();
      expect(spent.map((total) => total.spent)).toEqual([21n, 21n, 21n]);
      expect(problems).toEqual(['record-rejected']);
      expect(rejectedIn(dataDir)).toEqual(['req_old']);
      rmSync(dataDir, { recursive: true });
      await close();
    },
  );

  it.skipIf(isSkipped(dialect))(
    'reports when everything from before is in the database',
    async () => {
      const { database, url, close } = await openTestDatabase(dialect);
      const dataDir = mkdtempSync(join(tmpdir(), 'sluice-'));
      const databaseUrl = nowhere(dialect, dataDir);
      const first = await openJournal({ dataDir, databaseUrl, maxSize: 2 ** 30 });
      await first.caughtUp;
      await first.append(record('req_left', { charge: charge(5n) }));
      await first.close(100);
      const second = await openJournal({ dataDir, databaseUrl: url, maxSize: 2 ** 30 });
      await second.caughtUp;
      const rows = await database.kysely.selectFrom('usage').select('id').execute();
      expect(rows).toEqual([{ id: 'req_left' }]);
      await second.close();
      rmSync(dataDir, { recursive: true });
      await close();
    },
  );
});

/** A database that takes nothing. */
function nowhere(dialect: 'sqlite' | 'postgres', dataDir: string): string {
  return dialect === 'sqlite'
    ? `sqlite:${join(dataDir, 'empty.db')}`
    : 'postgres://postgres@127.0.0.1:1/none';
}

/** Ids of the records that were put aside. */
function rejectedIn(dataDir: string): unknown[] {
  const file = new DatabaseSync(join(dataDir, 'journal.db'));
  const rows = file.prepare('select line from rejected').all() as { line: string }[];
  file.close();
  return rows.map(({ line }) => (JSON.parse(line) as unknown[])[0]);
}
