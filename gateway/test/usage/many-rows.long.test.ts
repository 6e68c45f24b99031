import { describe, expect, test } from 'vitest';
import { openDatabase, type OpenDatabase } from '#database/index.ts';
import {
  countKinds,
  countNames,
  groupUsage,
  listUsage,
  readFilterLine,
  readHistogram,
  readLatency,
  channelTraffic,
  recentHealth,
  type Dimension,
} from '#usage/index.ts';
import { createTestDatabase, dialects, isSkipped } from '../database/databases.ts';
import { makeManyRows } from './many-rows.ts';

/*
 * How long every read of the console's pages takes with many rows of 90 days and 500 keys. The figures are printed; they
 * depend on the machine.
 */

const day = 86_400_000;
const rounds = 5;

/** Every read of the console's pages, by its name. */
function reads(db: OpenDatabase['kysely'], from: number, to: number) {
  const range = { from, to };
  const sums = (by: readonly Dimension[], more = {}) =>
    groupUsage(db, {
      ...range,
      by,
      metric: 'cost',
      first: by.length === 1 ? 50 : 8,
      timeZone: 'Europe/Berlin',
      ...more,
    });
  const times = (by: Parameters<typeof readLatency>[1]['by'], more = {}) =>
    readLatency(db, { ...range, by, first: 8, timeZone: 'Europe/Berlin', ...more });
  return {
    list: () => listUsage(db, { ...range, limit: 50 }),
    'list, failed': () => listUsage(db, { ...range, outcome: 'failed', limit: 50 }),
    'list, 5xx': () => listUsage(db, { ...range, statuses: [500, 599], limit: 50 }),
    'list, a rare client': () => listUsage(db, { ...range, client: 'codex', limit: 50 }),
    'list, cost': () => listUsage(db, { ...range, terms: readFilterLine('cost:>=1'), limit: 50 }),
    'list, a model by its beginning': () =>
      listUsage(db, { ...range, beginnings: { model: 'gpt' }, limit: 50 }),
    'list, a channel that was tried': () =>
      listUsage(db, { ...range, tried: 'channel-1', limit: 50 }),
    'list, a channel that fails': () => listUsage(db, { ...range, tried: 'failing', limit: 50 }),
    'list, an error': () => listUsage(db, { ...range, error: 'overloaded', limit: 50 }),
    'histogram, a channel that fails': () => readHistogram(db, { ...range, tried: 'failing' }, day),
    'sums by model': () => sums(['model']),
    'sums by key': () => sums(['key']),
    'sums by user': () => sums(['user']),
    'sums by team': () => sums(['team']),
    'sums by channel': () => sums(['channel']),
    'sums by day': () => sums(['day']),
    'sums by model and day': () => sums(['model', 'day']),
    'sums by channel and month': () => sums(['channel', 'month']),
    'sums by key and day': () => sums(['key', 'day']),
    'sums by key and model': () => sums(['key', 'model']),
    'sums by user and day, of one': () => sums(['model', 'day'], { userId: 'usr_7' }),
    'sums by client': () => sums(['client']),
    'sums by client and day': () => sums(['client', 'day']),
    'sums by client and model': () => sums(['client', 'model']),
    histogram: () => readHistogram(db, range, day),
    'histogram, 4xx': () => readHistogram(db, { ...range, statuses: [400, 499] }, day),
    'histogram, a client': () => readHistogram(db, { ...range, client: 'curl' }, day),
    'histogram, a model': () => readHistogram(db, { ...range, model: 'model-3' }, day),
    latency: () => times([]),
    'latency by model': () => times(['model']),
    'latency by model and day': () => times(['model', 'day']),
    'latency by model and day of UTC': () => times(['model', 'day'], { timeZone: 'UTC' }),
    'latency by channel and month': () => times(['channel', 'month']),
    'latency of the last 30 days by model and hour': () =>
      times(['model', 'hour'], { from: to - 30 * day }),
    'latency of one person': () => times(['model'], { userId: 'usr_7' }),
    'latency of one person by day': () => times(['model', 'day'], { userId: 'usr_7' }),
    'facets, names': () => countNames(db, range),
    'facets, kinds': () => countKinds(db, range),
    'the last day of all models': () => recentHealth(db, null, to),
    'the last day of all channels': () => channelTraffic(db, to),
  } satisfies Record<string, () => Promise<unknown>>;
}

const count = Number(process.env['SLUICE_READ_ROWS'] ?? 1_000_000);

describe.each(dialects)('%s', (dialect) => {
  test.skipIf(isSkipped(dialect))(
    'every read of the pages over many rows, the slowest of five',
    { timeout: 1_800_000 },
    async () => {
      const { url, drop } = await createTestDatabase(dialect);
      const newest = Date.UTC(2026, 10, 25, 12, 30);
      await makeManyRows(dialect, url, count, newest);

      const database = openDatabase({ url, statementTimeout: 0, maxConnections: 2 });
      const hour = 3_600_000;
      const to = Math.ceil(newest / hour) * hour;
      const table: Record<string, Record<string, number>> = {};
      for (const [span, days] of [
        ['30 days', 30],
        ['a year', 365],
      ] as const) {
        for (const [name, read] of Object.entries(reads(database.kysely, to - days * day, to))) {
          const times: number[] = [];
          for (let round = 0; round < rounds; round++) {
            const start = performance.now();
            await read();
            times.push(performance.now() - start);
          }
          table[name] = { ...table[name], [span]: Math.round(Math.max(...times)) };
        }
      }
      console.log(`${dialect}, worst of ${rounds}, ms`);
      console.table(table);
      expect(Object.keys(table).length).toBeGreaterThan(20);
      await database.close();
      await drop();
    },
  );
});
