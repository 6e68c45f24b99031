import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openJournal } from '../../src/journal/index.ts';
import { dialects, isSkipped, openTestDatabase } from '../database/databases.ts';
import { charge, record } from './records.ts';

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
    await first.close();
    const ids = async () => {
      const rows = await database.kysely.selectFrom('usage').select('id').orderBy('id').execute();
      return rows.map(({ id }) => id);
    };
    expect(await ids()).toEqual(['req_old', 'req_today']);

    // However short it is asked to be, a day is kept.
    const second = await openJournal({ ...options, keepUsage: 1 });
    await expect.poll(ids, { timeout: 5_000 }).toEqual(['req_today']);
    await second.close();
    const spent = await database.kysely.selectFrom('spent_totals').selectAll().execute();
    expect(spent.map((total) => total.spent)).toEqual([12n, 12n, 12n]);
    rmSync(dataDir, { recursive: true });
    await close();
  });

  it.skipIf(isSkipped(dialect))(
    'tells when everything from before is in the database',
    async () => {
      const { database, url, close } = await openTestDatabase(dialect);
      const dataDir = mkdtempSync(join(tmpdir(), 'sluice-'));
      const unreachable =
        dialect === 'sqlite'
          ? `sqlite:${join(dataDir, 'empty.db')}`
          : 'postgres://postgres@127.0.0.1:1/none';
      const first = await openJournal({ dataDir, databaseUrl: unreachable, maxSize: 2 ** 30 });
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
