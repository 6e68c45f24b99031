import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { OpenDatabase } from '#database/index.ts';
import { openJournal } from '#journal/index.ts';
import { readLines, toLine, type StateRecord } from '#usage/index.ts';
import { removeExpiredState } from '#usage/upstream-state.repository.ts';
import { dialects, isSkipped, openTestDatabase } from '../database/databases.ts';
import { record, recordAll, recordLines } from '../journal/records.ts';

const state = (parts: Partial<StateRecord> = {}): StateRecord => ({
  owner: 'alice',
  channel: 'ch_1',
  credential: null,
  expiresAt: 9_000_000_000_000,
  ids: ['one', 'response', 'two', 'item'],
  ...parts,
});

const kept = ({ kysely }: OpenDatabase) =>
  kysely.selectFrom('upstream_state').selectAll().orderBy('id').orderBy('owner').execute();

describe.each(dialects)('%s', (dialect) => {
  it.skipIf(isSkipped(dialect))(
    'ids are stored with the row of their answer, each once',
    async () => {
      const { database, close } = await openTestDatabase(dialect);
      const records = [
        record('req_1', { upstreamState: state() }),
        record('req_2'),
        record('req_3', { upstreamState: state({ owner: 'bob', ids: ['one', 'item'] }) }),
        record('req_4', { upstreamState: state({ credential: 'c', expiresAt: 9e12 + 1 }) }),
      ];
      await recordAll(database, records);
      await recordAll(database, records);
      const shared = { channel: 'ch_1', model: 'gpt-5' };
      const later = { ...shared, owner: 'alice', credential: 'c', expires_at: 9e12 + 1 };
      expect(await kept(database)).toEqual([
        { ...later, id: 'one', kind: 'response' },
        { ...shared, owner: 'bob', credential: null, expires_at: 9e12, id: 'one', kind: 'item' },
        { ...later, id: 'two', kind: 'item' },
      ]);
      const rows = await database.kysely.selectFrom('usage').select('budget_window').execute();
      expect(rows).toHaveLength(4);
      await close();
    },
  );

  it.skipIf(isSkipped(dialect))('a refused batch stores nothing', async () => {
    const { database, close } = await openTestDatabase(dialect);
    const good = record('req_1', { upstreamState: state() });
    const bad = record('req_2', { time: 1.5 });
    await expect(recordAll(database, [good, bad])).rejects.toThrow(/integer|REAL|bigint/i);
    expect(await kept(database)).toEqual([]);
    await close();
  });

  it.skipIf(isSkipped(dialect))('a line of an earlier version has none', async () => {
    const { database, close } = await openTestDatabase(dialect);
    const line = JSON.parse(toLine(record('req_1'))) as unknown[];
    const lines = JSON.stringify(line.slice(0, 36));
    await recordLines(database, readLines([{ version: 2, lines }]));
    expect(await kept(database)).toEqual([]);
    await close();
  });

  it.skipIf(isSkipped(dialect))(
    'expired ids are removed in steps, and by a running journal',
    async () => {
      const { database, url, close } = await openTestDatabase(dialect);
      const ids = Array.from({ length: 25 }, (_, at) => [`id_${at}`, 'item']).flat();
      const old = state({ ids, expiresAt: 1_000 });
      await recordAll(database, [record('req_1', { upstreamState: old })]);
      await recordAll(database, [record('req_2', { upstreamState: state() })]);
      expect(await removeExpiredState(database, 1_000, 10)).toBe(0);
      expect(await removeExpiredState(database, 1_001, 10)).toBe(10);
      expect(await kept(database)).toHaveLength(17);

      const dataDir = mkdtempSync(join(tmpdir(), 'sluice-'));
      const journal = await openJournal({ dataDir, databaseUrl: url, maxSize: 2 ** 30 });
      await expect
        .poll(async () => (await kept(database)).map(({ id }) => id))
        .toEqual(['one', 'two']);
      await journal.close();
      rmSync(dataDir, { recursive: true });
      await close();
    },
  );
});
