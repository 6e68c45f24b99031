import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import type { OpenDatabase } from '#database/index.ts';
import { lineVersion, readLines, toLine } from '#usage/index.ts';
import { positionOf } from '#usage/record-line.ts';
import { dialects, isSkipped, openTestDatabase } from '../database/databases.ts';
import { recordLines } from '../journal/records.ts';
import { completeRecord, readRows, storedBatches, storedValues, toRow } from './stored-lines.ts';

test('a stored line of every version is on file', () => {
  const versions = Array.from({ length: lineVersion }, (_, index) => index + 1);
  expect(storedBatches.map(({ version }) => version)).toEqual(versions);
});

test('what is written today is a line of its version', () => {
  expect(storedBatches.at(-1)?.lines.startsWith(`${toLine(completeRecord)},`)).toBe(true);
});

test.each(storedBatches)('a line of version $version is read to all of its values', (batch) => {
  const { rows, text } = readLines([batch]);
  expect(JSON.parse(`[${text}]`)).toEqual(rows);
  const read = rows.map((row) =>
    Object.fromEntries(Object.entries(positionOf).map(([name, at]) => [name, row[at]])),
  );
  expect(read).toEqual(storedValues(batch.version));
});

describe.each(dialects)('%s', (dialect) => {
  describe.skipIf(isSkipped(dialect))('a stored line', () => {
    let opened: Awaited<ReturnType<typeof openTestDatabase>>;
    let database: OpenDatabase;
    beforeEach(async () => {
      opened = await openTestDatabase(dialect);
      ({ database } = opened);
    });
    afterEach(() => opened.close());

    it.each(storedBatches)('of version $version becomes its row', async (batch) => {
      const { version } = batch;
      await recordLines(database, readLines([batch]), { now: 5 });
      const { kysely } = database;
      const entries = await kysely
        .selectFrom('ledger_entries')
        .selectAll()
        .orderBy('account')
        .execute();
      const posting = entries[0]?.transaction_id;
      expect(await readRows(database)).toEqual(
        storedValues(version).map((row) => toRow(row, posting)),
      );
      const cost = 2n ** 53n + 1n;
      expect(entries.map(({ account, amount }) => [account, amount])).toEqual(
        version === 1
          ? []
          : [
              ['revenue', cost],
              ['team:team_1', -cost],
            ],
      );
      const states = await kysely.selectFrom('upstream_state').selectAll().orderBy('id').execute();
      const state = { owner: 'd0', channel: 'ch_1', credential: 'd1', model: 'gpt-5' };
      const expiry = { expires_at: 1_762_592_000_123 };
      expect(states).toEqual(
        version < 3
          ? []
          : [
              { id: 'd2', kind: 'response', ...state, ...expiry },
              { id: 'd3', kind: 'item', ...state, ...expiry },
            ],
      );
      const hours = await kysely
        .selectFrom('usage_hourly')
        .select(['channel', 'requests', 'failed', 'input_tokens', 'unbilled_tokens'])
        .orderBy('channel')
        .execute();
      const [requests, failed] = version < 4 ? [1, 1] : [2, 140];
      expect(hours).toEqual([
        { channel: '', requests: failed, failed, input_tokens: 0, unbilled_tokens: 0 },
        { channel: 'openai-main', requests, failed: 0, input_tokens: 11, unbilled_tokens: 15 },
        { channel: 'spare', requests: 0, failed: 0, input_tokens: 0, unbilled_tokens: 15 },
      ]);
    });
  });
});
