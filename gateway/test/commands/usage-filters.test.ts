import { describe, expect, onTestFinished, test } from 'vitest';
import { migrate, openDatabase } from '#database/index.ts';
import { createTestDatabase, dialects, isSkipped, type Dialect } from '../database/databases.ts';
import { costOf, matches, seedUsage, shownCost, type SeededRow } from '../usage/usage-seed.ts';
import { nanoOf } from '../money/books.ts';
import { createWorkplace } from './support.ts';

async function seeded(dialect: Dialect) {
  const { url, drop } = await createTestDatabase(dialect);
  onTestFinished(drop);
  const database = openDatabase({ url });
  await migrate(database);
  const rows = await seedUsage(database);
  await database.close();
  return { ...createWorkplace(`storage: { url: ${JSON.stringify(url)} }`), rows };
}

const from = '2026-11-21T01:00:00Z';
const to = '2026-11-22T00:00:00Z';

/** Each alone, several, all; `%` and `_` are letters. */
const filters: readonly Readonly<Record<string, string>>[] = [
  {},
  { from },
  { to },
  { key: 'ci' },
  { key: 'c_' },
  { key: '%' },
  { key: 'key_gone' },
  { key: '*' },
  { user: 'ADA@example.com' },
  { user: 'a_a@example.com' },
  { team: 'research' },
  { team: 'rese%' },
  { model: 'gpt_5' },
  { model: 'a,"b"' },
  { model: "x' or '1'='1" },
  { channel: 'ma_n' },
  { from, to },
  { from, channel: '%' },
  { key: "c' or 1=1 --", user: 'ada@example.com' },
  { to, key: 'ci', model: '%' },
  { from, to, user: 'a%@example.com', team: 'r_search' },
  {
    from,
    to,
    key: 'ci',
    user: 'ada@example.com',
    team: 'research',
    model: 'gpt-5',
    channel: 'main',
  },
  { client: 'codex' },
  { from, key: 'ci', client: 'other' },
];

const cellsOf = (line: string): string[] =>
  Array.from(line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g), ([, quoted, plain]) =>
    quoted === undefined ? (plain ?? '') : quoted.replaceAll('""', '"'),
  );

describe.each(dialects)('%s', (dialect) => {
  test.skipIf(isSkipped(dialect))(
    'usage with every filter, as text, JSON and CSV, matches an independent count',
    { timeout: 60_000 },
    async () => {
      const { rows, sluice, json } = await seeded(dialect);
      for (const filter of filters) {
        const options = Object.entries(filter).map(([name, value]) => `--${name}=${value}`);
        const expected = rows.filter((row) => isIn(filter, row));
        const ids = expected.map(({ id }) => id);

        const page = (await json('usage', ...options, '--limit', '1000')) as {
          data: { id: string; cost: string | null; model: string; channel: string | null }[];
          next: string | null;
        };
        expect([filter, page.data.map(({ id }) => id), page.next]).toEqual([filter, ids, null]);
        expect(page.data.map(({ cost }) => cost)).toEqual(expected.map(shownCost));

        const [heading = '', ...lines] = (await sluice('usage', ...options, '--csv')).out.split(
          '\r\n',
        );
        const columns = cellsOf(heading);
        const cells = lines.slice(0, -1).map(cellsOf);
        const column = (name: string) => cells.map((line) => line[columns.indexOf(name)]);
        expect([filter, column('id')]).toEqual([filter, ids]);
        expect(column('cost')).toEqual(expected.map((row) => shownCost(row) ?? ''));
        expect(column('channel')).toEqual(expected.map(({ channel }) => channel ?? ''));
        // A mark precedes text that a spreadsheet would take for a formula.
        expect(column('model')).toEqual(
          expected.map(({ model }) => (model.startsWith('=') ? `'${model}` : model)),
        );

        const total = /\ntotal: (\d+) requests, (\S+) USD\n/.exec(
          (await sluice('usage', ...options, '--limit', '1')).out,
        );
        expect([filter, Number(total?.[1]), nanoOf(total?.[2] ?? '')]).toEqual([
          filter,
          expected.length,
          costOf(expected),
        ]);

        const sums = (await json('usage', ...options, '--by', 'model')) as { requests: number };
        expect([filter, sums.requests]).toEqual([filter, expected.length]);
        const { data } = (await json('usage', ...options, '--by', 'client')) as {
          data: { client: string; cost: string; tokens: { output: number } }[];
        };
        const clients = Map.groupBy(expected, ({ client }) => client);
        expect([filter, new Set(data.map(({ client }) => client))]).toEqual([
          filter,
          new Set(clients.keys()),
        ]);
        for (const { client, cost, tokens } of data) {
          const own = clients.get(client) ?? [];
          expect(nanoOf(cost)).toBe(costOf(own));
          expect(tokens.output).toBe(own.reduce((sum, { output }) => sum + output, 0));
        }
      }
    },
  );
});

function isIn(filter: Readonly<Record<string, string>>, row: SeededRow): boolean {
  const { from: first, to: end, ...texts } = filter;
  const times = {
    ...(first !== undefined && { from: Date.parse(first) }),
    ...(end !== undefined && { to: Date.parse(end) }),
  };
  return matches({ ...texts, ...times }, row);
}
