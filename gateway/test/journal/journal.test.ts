import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { OpenDatabase } from '#database/index.ts';
import { openJournal, type Journal, type JournalProblem } from '#journal/index.ts';
import { lineVersion } from '#usage/index.ts';
import { dialects, isSkipped, openTestDatabase } from '../database/databases.ts';
import { charge, record, recordAll } from './records.ts';
import { completeRecord, readRows, storedValues, toRow } from '../usage/stored-lines.ts';

describe.each(dialects)('%s', (dialect) => {
  describe.skipIf(isSkipped(dialect))('journal', () => {
    let opened: Awaited<ReturnType<typeof openTestDatabase>>;
    let database: OpenDatabase;
    let dataDir: string;
    let problems: JournalProblem[];
    beforeEach(async () => {
      opened = await openTestDatabase(dialect);
      ({ database } = opened);
      dataDir = mkdtempSync(join(tmpdir(), 'sluice-'));
      problems = [];
    });
    afterEach(async () => {
      await opened.close();
      rmSync(dataDir, { recursive: true });
    });

    const open = (parts: { maxSize?: number; databaseUrl?: string } = {}): Promise<Journal> =>
      openJournal({
        dataDir,
        databaseUrl: opened.url,
        maxSize: 2 ** 30,
        onProblem: (problem) => problems.push(problem),
        ...parts,
      });
    const idsInDatabase = async () => {
      const rows = await database.kysely.selectFrom('usage').select('id').orderBy('id').execute();
      return rows.map((row) => row.id);
    };

    it('writes every record to the database, with all its parts', async () => {
      const journal = await open();
      const records = [record('req_1'), record('req_2'), completeRecord];
      await Promise.all(records.map((each) => journal.append(each)));
      await journal.close(30_000);
      expect(journal.depth).toBe(0);
      expect(await idsInDatabase()).toEqual(['req_1', 'req_2', completeRecord.id].toSorted());
      const [values] = storedValues(lineVersion);
      const rows = await readRows(database);
      expect(rows.find(({ id }) => id === completeRecord.id)).toEqual(
        toRow(values, expect.any(String)),
      );
    });

    it('applies what an earlier process left', async () => {
      const unreachable = unreachableUrl(dialect, dataDir);
      const first = await open({ databaseUrl: unreachable });
      await first.append(record('req_left'));
      expect(first.depth).toBe(1);
      await expect
        .poll(() => problems.map(({ kind }) => kind), { timeout: 10_000 })
        .toContain('database-away');
      await first.close(300);
      expect(await idsInDatabase()).toEqual([]);

      const second = await open();
      expect(second.depth).toBe(1);
      await waitFor(() => second.depth === 0);
      expect(await idsInDatabase()).toEqual(['req_left']);
      await second.close();
    });

    it('accepts text that the database cannot hold', async () => {
      const journal = await open();
      const odd = 'a\0b\ud800c\\u0000\u2028"\'';
      await journal.append(record('req_odd', { model: odd, userAgent: 'x'.repeat(10_000) }));
      await journal.close(30_000);
      const row = await database.kysely.selectFrom('usage').selectAll().executeTakeFirstOrThrow();
      expect(row.model).toBe('a\ufffdb\ufffdc\\u0000\u2028"\'');
      expect(row.user_agent).toHaveLength(256);
    });

    it('sets a record aside that the database refuses, and continues with the others', async () => {
      const journal = await open();
      const lease = { life: 'life_1', parts: ['7', '0', '5'] };
      const broken = record('req_broken', {
        status: 'not a number' as unknown as number,
        charge: charge(7n, { lease }),
      });
      const rejected: unknown[] = [];
      journal.onRejected((leased) => rejected.push(...leased));
      await Promise.all([record('req_1'), broken, record('req_2')].map((r) => journal.append(r)));
      await journal.close(30_000);
      expect(await idsInDatabase()).toEqual(['req_1', 'req_2']);
      expect(problems.map(({ kind }) => kind)).toEqual(['record-rejected']);
      expect(rejected).toMatchObject([
        { life: 'life_1', meter: 'user:usr_1:balance', part: 7n },
        { life: 'life_1', meter: 'key:key_1:quota', part: 5n },
      ]);
      const file = new DatabaseSync(join(dataDir, 'journal.db'));
      const kept = file.prepare('select line from rejected').all();
      expect(kept).toHaveLength(1);
      expect(JSON.stringify(kept)).toContain('req_broken');
      file.close();
    });

    it('writes a record once, however often and from wherever it is applied', async () => {
      const records = Array.from({ length: 45 }, (_, index) => record(`req_${index}`));
      for (let time = 0; time < 8; time++) {
        await Promise.all([0, 1, 2, 3].map((node) => recordAll(database, records.slice(node))));
      }
      expect(await idsInDatabase()).toHaveLength(45);
    });

    it('refuses a second process with a sentence, and a closed one blocks nobody', async () => {
      const first = await open();
      await expect(open()).rejects.toThrow(`${dataDir} is in use by another running gateway`);
      await first.append(record('req_1'));
      await first.close(30_000);
      const again = await open();
      await again.append(record('req_2'));
      await again.close(30_000);
      expect(await idsInDatabase()).toEqual(['req_1', 'req_2']);
    });

    it('accepts no more than its limit, and again once there is room', async () => {
      const unreachable = unreachableUrl(dialect, dataDir);
      const full = await open({ maxSize: 20_000, databaseUrl: unreachable });
      let taken = 0;
      await expect(
        (async () => {
          for (;;) {
            await full.append(record(`req_${taken}`, { charge: charge(1n) }));
            taken += 1;
          }
        })(),
      ).rejects.toMatchObject({ errorName: 'unavailable' });
      expect(taken).toBeGreaterThan(1);
      expect(full.usable).toBe(false);
      await full.close(100);

      const again = await open({ maxSize: 20_000 });
      await waitFor(() => again.usable);
      await again.append(record('req_more'));
      await again.close(30_000);
      expect(await idsInDatabase()).toHaveLength(taken + 1);
    });

    it('R-31 keeps rows of free requests in memory meanwhile, and counts lost ones', async () => {
      const full = await open({ maxSize: 1, databaseUrl: unreachableUrl(dialect, dataDir) });
      await full.append(record('req_free'));
      await full.append(record('req_left', { outcome: 'client-left', status: 499 }));
      expect(full.lost).toBe(0);
      for (const lost of [
        record('req_paid', { charge: charge(1n) }),
        record('req_failed', { outcome: 'failed' }),
      ]) {
        await expect(full.append(lost)).rejects.toMatchObject({ errorName: 'unavailable' });
      }
      expect(full.lost).toBe(2);
      await full.close(100);
      expect(full.lost).toBe(4);
      expect(problems.filter(({ kind }) => kind === 'records-lost')).toHaveLength(1);
    });

    it('R-31 reserves the last room for what is owed, however much is served or refused meanwhile', async () => {
      const databaseUrl = unreachableUrl(dialect, dataDir);
      const full = await open({ maxSize: 30_000, databaseUrl });
      const paid = (id: string) => full.append(record(id, { charge: charge(1n) }));
      let taken = 0;
      for (; full.usable; taken += 1) await paid(`req_paid_${taken}`);
      for (let at = 0; at < 100; at += 1) {
        await full.append(record(`req_free_${at}`));
        const refused = record(`req_refused_${at}`, { outcome: 'refused', status: 503 });
        await expect(full.append(refused)).rejects.toMatchObject({ errorName: 'unavailable' });
      }
      await paid('req_under_way');
      await full.close(100);

      const again = await open({ maxSize: 30_000 });
      await again.close(30_000);
      expect(await idsInDatabase()).toHaveLength(taken + 1);
    });

    it('refuses records once it is closed', async () => {
      const journal = await open();
      await journal.close();
      await journal.close();
      expect(journal.usable).toBe(false);
      await expect(journal.append(record('late'))).rejects.toMatchObject({
        errorName: 'unavailable',
      });
    });
  });
});

function unreachableUrl(dialect: string, dataDir: string): string {
  // Without tables, or without a server.
  return dialect === 'sqlite'
    ? `sqlite:${join(dataDir, 'empty.db')}`
    : 'postgres://postgres@127.0.0.1:1/none';
}

async function waitFor(condition: () => boolean): Promise<void> {
  for (let tries = 0; !condition(); tries++) {
    if (tries > 500) throw new Error('it did not happen within 5 s');
    await wait(10);
  }
}
