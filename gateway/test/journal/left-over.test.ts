import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openDatabase, type OpenDatabase } from '#database/index.ts';
import { seal, type End } from '#journal/batch.ts';
import { createBatchWriter } from '#journal/batch-writer.ts';
import { openJournal } from '#journal/index.ts';
import { openJournalFile } from '#journal/journal-file.repository.ts';
import { spentWithLeftOver } from '#journal/left-over.repository.ts';
import { beginning } from '#journal/mark.ts';
import { readOn } from '#journal/read-on.ts';
import { spentOf } from '#ledger/index.ts';
import { lineVersion, toLine, type ExchangeRecord } from '#usage/index.ts';
import { blockWriters } from '../database/block-writers.ts';
import { openTestDatabase } from '../database/databases.ts';
import { charge, record, recordAll } from './records.ts';

const costing = (id: string, cost: bigint, keyId = 'key_1') =>
  record(id, { keyId, userId: `usr_${keyId}`, charge: cost === 0n ? null : charge(cost) });

test('what was spent is known while the database takes no rows', async () => {
  const { database, url, close } = await openTestDatabase('sqlite');
  const dataDir = mkdtempSync(join(tmpdir(), 'sluice-'));
  await recordAll(database, [costing('req_1', 100n), costing('req_2', 1n, 'key_2')]);
  const blocker = openDatabase({ url });
  const unblock = await blockWriters(blocker);
  const open = { dataDir, databaseUrl: url, maxSize: 2 ** 30, findsSpent: true };
  const killed = await openJournal(open);
  await Promise.all([3n, 5n].map((cost) => killed.append(costing(`req_left_${cost}`, cost))));
  await killed.close(100);
  expect(killed.depth).toBe(2);

  const journal = await openJournal(open);
  const spent = await journal.spentWithLeftOver;
  expect([spent.get('key:key_1:quota'), spent.get('user:usr_key_1:balance')]).toEqual([108n, 108n]);
  expect(spent.has('key:key_2:quota')).toBe(false);
  expect(journal.depth).toBe(2);

  await unblock();
  await journal.caughtUp;
  expect(await spentOf(database.kysely, [...spent.keys()])).toEqual(spent);
  await journal.close();
  await blocker.close();
  await close();
  rmSync(dataDir, { recursive: true });
});

const allTotals = ({ kysely }: OpenDatabase) =>
  kysely.selectFrom('spent_totals').select(['meter', 'spent']).orderBy('meter').execute();

const written = fc.record({
  costs: fc.array(fc.tuple(fc.nat(3), fc.bigInt(0n, 9n)), { minLength: 1, maxLength: 4 }),
  /** How it lies in the file. */
  as: fc.constantFrom('it is', 'it is', 'it is', 'twice', 'damaged', 'not JSON'),
});

test('it is what the database says in the end, whatever it has already', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(written, { maxLength: 12 }), fc.nat(12), async (batches, applied) => {
      const { database, close } = await openTestDatabase('sqlite');
      const dataDir = mkdtempSync(join(tmpdir(), 'sluice-'));
      const file = openJournalFile(dataDir);
      let end: End = { ...beginning, checksum: 0 };
      let number = 0;
      const put = (lines: string, count: number, breaks: (text: string) => string) => {
        const batch = seal({ version: lineVersion, count, lines, intents: null }, end);
        file.insert({ ...batch, lines: breaks(lines) });
        end = batch;
      };
      const early: ExchangeRecord[] = [];
      for (const [at, { costs, as }] of batches.entries()) {
        const records = costs.map(([key, cost]) =>
          costing(`req_${(number += 1)}`, cost, `key_${key}`),
        );
        // The applier had written the first ones when its process was killed, and had not noted it.
        if (at < applied && as !== 'damaged' && as !== 'not JSON') early.push(...records);
        const lines = records.map(toLine).join(',');
        const text = as === 'not JSON' ? lines.slice(1) : lines;
        put(
          text,
          records.length,
          as === 'damaged' ? (sealed) => sealed.replace('req', 'rep') : String,
        );
        if (as === 'twice') put(lines, records.length, String);
      }
      if (early.length > 0) await recordAll(database, early);

      const left = readOn(file, beginning, end, { mostRecords: 1_000, mostLength: 2 ** 20 });
      const upTo = end.id;
      put(toLine(costing('req_new', 7n)), 1, String);
      const totalsBefore = await allTotals(database);
      const spent = await spentWithLeftOver(database, file, 0, upTo);
      const writer = createBatchWriter({ database, node: 'node_1', putAside: () => {} });
      await writer.write(left.batches, [], {});
      file.close();
      expect(await spentOf(database.kysely, [...spent.keys()])).toEqual(spent);
      const totals = await allTotals(database);
      expect(totals.filter(({ meter }) => !spent.has(meter))).toEqual(
        totalsBefore.filter(({ meter }) => !spent.has(meter)),
      );
      await close();
      rmSync(dataDir, { recursive: true });
    }),
    { numRuns: 20 },
  );
}, 120_000);

test('a commit that was written twice is counted once, whatever is read together', async () => {
  const { database, close } = await openTestDatabase('sqlite');
  const dataDir = mkdtempSync(join(tmpdir(), 'sluice-'));
  const file = openJournalFile(dataDir);
  const lines = Array.from({ length: 1_000 }, (_, at) => toLine(costing(`req_${at}`, 1n))).join(
    ',',
  );
  let end: End = { ...beginning, checksum: 0 };
  for (let copy = 0; copy < 2; copy += 1) {
    const batch = seal({ version: lineVersion, count: 1_000, lines, intents: null }, end);
    file.insert(batch);
    end = batch;
  }
  const spent = await spentWithLeftOver(database, file, 0, end.id);
  expect(spent.get('key:key_1:quota')).toBe(1_000n);
  file.close();
  await close();
  rmSync(dataDir, { recursive: true });
});
