import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OpenDatabase } from '#database/index.ts';
import {
  groupings,
  listUsage,
  sumUsage,
  toCsv,
  totalUsage,
  type UsageFilter,
} from '#usage/index.ts';
import { dialects, isSkipped, openTestDatabase } from '../database/databases.ts';
import { anyFilter, costOf, matches, seedUsage, type SeededRow } from './usage-seed.ts';

describe.each(dialects)('%s', (dialect) => {
  describe.skipIf(isSkipped(dialect))('usage', () => {
    let opened: Awaited<ReturnType<typeof openTestDatabase>>;
    let database: OpenDatabase;
    let rows: readonly SeededRow[];
    beforeAll(async () => {
      opened = await openTestDatabase(dialect);
      ({ database } = opened);
      rows = await seedUsage(database);
    });
    afterAll(() => opened.close());

    /** Page by page. */
    async function listAll(filter: UsageFilter, limit: number): Promise<string[]> {
      const ids: string[] = [];
      let cursor: string | null = null;
      do {
        const more: UsageFilter = cursor === null ? {} : { cursor };
        const page = await listUsage(database.kysely, { ...filter, ...more, limit });
        ids.push(...page.data.map(({ id }) => id));
        cursor = page.next;
      } while (cursor !== null);
      return ids;
    }

    it('lists and sums what all filters together leave, in any combination', async () => {
      let hits = 0;
      await fc.assert(
        fc.asyncProperty(
          anyFilter(rows),
          fc.integer({ min: 1, max: 60 }),
          async (filter, limit) => {
            const expected = rows.filter((row) => matches(filter, row));
            if (expected.length > 0) hits += 1;
            expect(await listAll(filter, limit)).toEqual(expected.map(({ id }) => id));
            expect(await totalUsage(database.kysely, filter)).toEqual({
              requests: expected.length,
              cost: costOf(expected),
            });
          },
        ),
        { numRuns: 120 },
      );
      // Filters that never match would show nothing.
      expect(hits).toBeGreaterThan(10);
    });

    it('reads less of a row for a line of CSV, and the line says the same', async () => {
      const [whole, short] = await Promise.all(
        (['entry', 'line'] as const).map((detail) => listUsage(database.kysely, {}, detail)),
      );
      expect(short?.data.length).toBeGreaterThan(50);
      expect(short?.data.map(toCsv)).toEqual(whole?.data.map(toCsv));
      expect(short?.next).toEqual(whole?.next);
    });

    it('sums by every dimension, exactly at both ends', async () => {
      await fc.assert(
        fc.asyncProperty(anyFilter(rows), fc.constantFrom(...groupings), async (filter, by) => {
          const groups = Map.groupBy(
            rows.filter((row) => matches(filter, row)),
            (row) => {
              const time = new Date(row.time).toISOString();
              if (by === 'hour') return `${time.slice(0, 13)}:00Z`;
              if (by === 'month') return time.slice(0, 7);
              return (by === 'day' ? time.slice(0, 10) : row[by]) ?? `(no ${by})`;
            },
          );
          const expected = [...groups].map(([name, members]) => [
            name,
            members.length,
            members.filter(({ outcome }) => outcome === 'failed').length,
            members.reduce((sum, { output }) => sum + output, 0),
            costOf(members),
          ]);
          const sums = await sumUsage(database.kysely, filter, [by]);
          const seen = sums.map(({ names: [name], requests, failed, tokens, cost }) => [
            name,
            requests,
            failed,
            tokens.output,
            cost,
          ]);
          expect(seen.toSorted(byName)).toEqual(expected.toSorted(byName));
        }),
        { numRuns: 100 },
      );
    });

    it.each(['team', 'channel'])('finds nothing by an empty %s', async (name) => {
      const filter = { [name]: '' };
      expect(await totalUsage(database.kysely, filter)).toEqual({ requests: 0, cost: 0n });
      expect(await sumUsage(database.kysely, filter, ['day'])).toEqual([]);
    });
  });
});

function byName([a]: readonly unknown[], [b]: readonly unknown[]): number {
  return String(a) < String(b) ? -1 : 1;
}
