import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OpenDatabase } from '#database/index.ts';
import {
  countKinds,
  countNames,
  countedDimensions,
  groupUsage,
  listUsage,
  metrics,
  nameDimensions,
  readHistogram,
  readLatency,
  type ExchangeRecord,
  type Percentiles,
  type UsageEntry,
} from '#usage/index.ts';
import { dialects, isSkipped, openTestDatabase } from '../database/databases.ts';
import { charge, keepPrice, record, recordAll } from '../journal/records.ts';

const hour = 3_600_000;
const day = 24 * hour;
/** Days of 23 and 25 hours in Berlin lie in between. */
const start = Date.UTC(2026, 2, 20, 5);
const end = start + 230 * day;

/** Rows of many names over the months, the same in every run. */
function someRecords(): ExchangeRecord[] {
  const pick = <Value>(values: readonly Value[], number: number) =>
    values[number % values.length] as Value;
  return Array.from({ length: 600 }, (_, n) => {
    const outcome = pick(
      ['completed', 'completed', 'failed', 'refused', 'client-left'] as const,
      Math.floor(n / 5),
    );
    const isAsked = outcome !== 'refused';
    return record(`req_${n}`, {
      time: start + ((n * 7_919_333) % (230 * 24 * 60)) * 60_000,
      keyId: `key_${(n * 31) % 11}`,
      userId: `usr_${(n * 17) % 5}`,
      teamId: n % 3 === 0 ? `team_${n % 2}` : null,
      model: `model-${(n * 13) % 7}`,
      channel: outcome === 'completed' ? `channel-${n % 3}` : null,
      outcome,
      status: outcome === 'completed' ? 200 : pick([429, 502, 499], n),
      ...(!isAsked && { attempts: [] }),
      ...(n % 9 === 3 && !isAsked && { count: 4 }),
      userAgent: pick(['claude-cli/1', 'codex_cli/2', 'ProbeClient/1'], n),
      ttftMs: outcome === 'completed' ? 20 + ((n * 37) % 4_000) : null,
      durationMs: 25 + ((n * 53) % 60_000),
      charge: outcome === 'completed' ? charge(BigInt(1 + ((n * 97) % 1_000))) : null,
    });
  });
}

const records = someRecords();

describe.each(dialects)('%s', (dialect) => {
  describe.skipIf(isSkipped(dialect))('readings', () => {
    let opened: Awaited<ReturnType<typeof openTestDatabase>>;
    let database: OpenDatabase;
    let rows: readonly UsageEntry[];
    beforeAll(async () => {
      opened = await openTestDatabase(dialect);
      ({ database } = opened);
      await keepPrice(database);
      await recordAll(database, records);
      rows = (await listUsage(database.kysely, { limit: 1_000 })).data;
    });
    afterAll(() => opened.close());

    const keyOf = {
      model: (row: UsageEntry) => (row.attempts.length === 0 ? '' : row.model),
      channel: (row: UsageEntry) => row.channel ?? '',
      key: (row: UsageEntry) => row.key,
      user: (row: UsageEntry) => row.user,
      team: (row: UsageEntry) => row.team ?? '',
      client: (row: UsageEntry) => row.client,
    } as const;
    const berlin = new Intl.DateTimeFormat('sv', { timeZone: 'Europe/Berlin' });
    const timeKeyOf = {
      hour: ({ time }: UsageEntry) => `${time.slice(0, 13)}:00Z`,
      day: ({ time }: UsageEntry) => berlin.format(new Date(time)),
      month: ({ time }: UsageEntry) => berlin.format(new Date(time)).slice(0, 7),
    } as const;
    const countOf = (of: readonly UsageEntry[]) => of.reduce((sum, { count }) => sum + count, 0);

    it('sum every dimension, alone and by the time, as the rows say', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.constantFrom(...nameDimensions),
          fc.constantFrom('hour', 'day', 'month', null),
          fc.constantFrom(...metrics),
          fc.integer({ min: 1, max: 12 }),
          fc.integer({ min: 0, max: 229 * 24 }),
          fc.integer({ min: 1, max: 230 * 24 }),
          fc.constantFrom([0, 0], [1, 0], [0, 3_599_999], [1_234_567, 3_456_789]),
          fc.constantFrom<Partial<Record<'model' | 'client' | 'userId', string>>>(
            {},
            { model: 'model-3' },
            { client: 'codex' },
            { client: 'codex', model: 'model-3' },
            { userId: 'usr_2' },
          ),
          async (dimension, time, metric, first, after, hours, [early = 0, late = 0], filter) => {
            const from = start + after * hour + early;
            const to = Math.max(from, Math.min(end + day, start + (after + hours) * hour) + late);
            const { groups, total, rest, buckets } = await groupUsage(database.kysely, {
              ...filter,
              from,
              to,
              by: time === null ? [dimension] : [dimension, time],
              metric,
              first,
              timeZone: 'Europe/Berlin',
            });
            const within = rows.filter((row) => {
              const at = Date.parse(row.time);
              if (at < from || at >= to) return false;
              if (filter.model !== undefined && keyOf.model(row) !== filter.model) return false;
              if (filter.client !== undefined && row.client !== filter.client) return false;
              return filter.userId === undefined || row.user === filter.userId;
            });
            expect(total.requests).toBe(countOf(within));
            const names = [...new Set(within.map(keyOf[dimension]))];
            expect(rest[0]).toBe(Math.max(0, names.length - first));
            const own = new Set(groups.map(({ names }) => names[0]));
            expect(own.size).toBeLessThanOrEqual(first + 1);
            for (const group of groups) {
              const [name, part] = group.names;
              const expected = within.filter((row) => {
                const isNamed =
                  name === null ? !own.has(keyOf[dimension](row)) : keyOf[dimension](row) === name;
                return isNamed && (time === null || timeKeyOf[time](row) === part);
              });
              expect([group.names, group.requests, group.failed, group.cost]).toEqual([
                group.names,
                countOf(expected),
                countOf(
                  expected.filter(({ outcome }) => outcome === 'failed' || outcome === 'refused'),
                ),
                expected.reduce(
                  (sum, { cost }) => sum + BigInt(Math.round(Number(cost ?? 0) * 1e9)),
                  0n,
                ),
              ]);
            }
            if (time !== null) {
              expect(buckets?.[0]?.from).toBe(from);
              expect(buckets?.at(-1)?.to).toBe(to);
              expect(new Set(buckets?.map(({ name }) => name)).size).toBe(buckets?.length);
            }
          },
        ),
        { numRuns: dialect === 'sqlite' ? 150 : 40, seed: 26 },
      );
    });

    it('count a list over time, whatever it is filtered by', async () => {
      for (const filter of [
        {},
        { client: 'codex' },
        { statuses: [400, 499] as const },
        { outcome: 'failed' },
        { minDuration: 30_000, model: 'model-1' },
        { beginnings: { client: 'cl' } },
        { client: 'codex', model: 'model-3' },
        { isAsked: false },
        { model: 'model-3' },
        { channel: 'channel-1' },
        { keyId: 'key_4' },
        { user: 'usr_2', model: 'model-5' },
        { userId: 'usr_1', teamIds: ['team_0'] },
        { beginnings: { model: 'model' } },
        { beginnings: { channel: 'ch' } },
      ]) {
        const range = { from: start, to: end };
        const list = (await listUsage(database.kysely, { ...filter, ...range, limit: 1_000 })).data;
        expect(list.length).toBeGreaterThan(0);
        const { bars, requests, failed, refused, cost } = await readHistogram(
          database.kysely,
          { ...filter, ...range },
          7 * day,
        );
        expect([filter, requests]).toEqual([filter, countOf(list)]);
        expect(bars.reduce((sum, bar) => sum + bar.requests, 0)).toBe(requests);
        const of = (outcome: string) => countOf(list.filter((row) => row.outcome === outcome));
        expect([failed, refused]).toEqual([of('failed'), of('refused')]);
        expect(Number(cost)).toBe(
          list.reduce((sum, row) => sum + Math.round(Number(row.cost ?? 0) * 1e9), 0),
        );
        const ofClass = (least: number) =>
          countOf(list.filter(({ status }) => status >= least && status < least + 100));
        const drawn = (kind: 'success' | 'clientErrors' | 'serverErrors') =>
          bars.reduce((sum, bar) => sum + bar[kind], 0);
        expect([filter, drawn('success'), drawn('clientErrors'), drawn('serverErrors')]).toEqual([
          filter,
          ofClass(200),
          ofClass(400),
          ofClass(500),
        ]);
      }
    });

    it('count requests of a name whose rows are gone', async () => {
      const filter = { keyId: 'key_4', from: start - (start % hour), to: end + day };
      const { bars: _, ...before } = await readHistogram(database.kysely, filter, 7 * day);
      expect(before.failed * before.refused).toBeGreaterThan(0);
      const gone = new Error('the rows come back');
      await database.kysely
        .transaction()
        .execute(async (db) => {
          await db
            .deleteFrom('usage')
            .where('key_id', '=', 'key_4')
            .where('time', '<', start + 100 * day)
            .execute();
          const { bars, ...after } = await readHistogram(db, filter, 7 * day);
          expect(after).toEqual(before);
          const drawn = bars.map((bar) => bar.success + bar.clientErrors + bar.serverErrors);
          expect(drawn).toEqual(bars.map(({ requests }) => requests));
          throw gone;
        })
        .catch((error: unknown) => {
          if (error !== gone) throw error;
        });
    });

    it('name what there is to filter by', async () => {
      const range = { from: start - (start % hour), to: end + day };
      for (const filter of [{}, { userId: 'usr_1' }, { model: 'model-2' }, { client: 'codex' }]) {
        const names = await countNames(database.kysely, { ...filter, ...range });
        for (const dimension of countedDimensions) {
          const { groups } = await groupUsage(database.kysely, {
            ...filter,
            ...range,
            by: [dimension],
            metric: 'requests',
            first: 100,
            timeZone: 'UTC',
          });
          expect([dimension, names[dimension]]).toEqual([
            dimension,
            groups.map(({ names: [name], requests }) => ({ name, requests })),
          ]);
        }
      }
      const kinds = await countKinds(database.kysely, { from: start, to: end });
      expect(kinds.client.map(({ value }) => value).toSorted()).toEqual([
        'claude-code',
        'codex',
        'other',
      ]);
      expect(kinds.outcome.reduce((sum, { count }) => sum + count, 0)).toBe(countOf(rows));
      expect(kinds.status[0]).toEqual({ value: '200', count: 240 });
    });

    it('tell how long requests took, in all and over time, within 5 %, from sums and from rows alike', async () => {
      const exact = (values: number[], share: number) =>
        values.toSorted((a, b) => a - b)[Math.ceil(values.length * share) - 1] ?? 0;
      const isNear = (found: Percentiles | null, values: number[]) =>
        (
          [
            ['p50', 0.5],
            ['p95', 0.95],
            ['p99', 0.99],
          ] as const
        ).every(
          ([name, share]) => Math.abs((found?.[name] ?? 0) / exact(values, share) - 1) < 0.05,
        );
      const wholes = [[], ['model'], ['channel'], ['key'], ['team', 'model']] as const;
      const splits = [
        ['hour'],
        ['model', 'day'],
        ['day', 'channel'],
        ['channel', 'month'],
        ['user', 'day'],
        ['hour', 'client'],
      ] as const;
      for (const timeZone of ['UTC', 'Europe/Berlin']) {
        for (const filter of [{}, { userId: 'usr_1' }, { model: 'model-2' }, { client: 'codex' }]) {
          for (const by of [...wholes, ...splits]) {
            const from = start - (start % hour) + 3 * hour + 1_234_567;
            const latencies = await readLatency(database.kysely, {
              ...filter,
              from,
              to: end + day,
              by,
              first: 100,
              timeZone,
            });
            const { groups = [], buckets, rest } = latencies ?? {};
            const local = new Intl.DateTimeFormat('sv', { timeZone });
            const partOf = {
              hour: timeKeyOf.hour,
              day: ({ time }: UsageEntry) => local.format(new Date(time)),
              month: ({ time }: UsageEntry) => local.format(new Date(time)).slice(0, 7),
              ...keyOf,
            };
            const expected = Map.groupBy(
              rows.filter(
                (row) =>
                  row.outcome === 'completed' &&
                  Date.parse(row.time) >= from &&
                  (!('userId' in filter) || row.user === filter.userId) &&
                  (!('model' in filter) || row.model === filter.model) &&
                  (!('client' in filter) || row.client === filter.client),
              ),
              (row) => by.map((dimension) => partOf[dimension](row)).join(' '),
            );
            const wrong = groups.filter(({ names, requests, duration, firstToken }) => {
              const of = expected.get(names.join(' ')) ?? [];
              return (
                requests !== of.length ||
                !isNear(
                  duration,
                  of.map(({ duration_ms: ms }) => ms),
                ) ||
                !isNear(
                  firstToken,
                  of.map(({ ttft_ms: ms }) => ms ?? 0),
                )
              );
            });
            expect([timeZone, filter, by, wrong, groups.length]).toEqual([
              timeZone,
              filter,
              by,
              [],
              expected.size,
            ]);
            expect(rest?.every((count) => count === 0)).toBe(true);
            expect(buckets === null).toBe(
              by.every((each) => !['hour', 'day', 'month'].includes(each)),
            );
          }
        }
      }
    });

    it('read no more than so many requests of persons and clients', async () => {
      const range = { from: start, to: end + day, first: 3, timeZone: 'UTC' };
      const most = countOf(rows.filter(({ user }) => user === 'usr_1'));
      for (const [filter, by, mostRows, isRead] of [
        [{ userId: 'usr_1' }, [], most, true],
        [{ userId: 'usr_1' }, [], most - 1, false],
        [{}, ['key'], countOf(rows), true],
        [{}, ['client', 'day'], countOf(rows) - 1, false],
        [{}, ['model'], 0, true],
      ] as const) {
        const found = await readLatency(database.kysely, { ...range, ...filter, by }, mostRows);
        expect([filter, by, mostRows, found !== null]).toEqual([filter, by, mostRows, isRead]);
      }
    });

    it('tell how long requests of all others took together, with the same names first as their sums', async () => {
      const question = {
        from: start - (start % hour),
        to: end + day,
        by: ['model', 'month'] as const,
        first: 3,
        timeZone: 'UTC',
      };
      const sums = await groupUsage(database.kysely, { ...question, metric: 'requests' });
      const { groups = [], rest } = (await readLatency(database.kysely, question)) ?? {};
      expect(rest).toEqual(sums.rest);
      const names = (of: readonly { readonly names: readonly (string | null)[] }[]) =>
        new Set(of.map(({ names: [name] }) => name));
      // What was refused at once has no model, and took no time.
      expect(names(groups)).toEqual(names(sums.groups).difference(new Set([''])));
      expect(names(groups)).toContain(null);
      expect(groups.reduce((sum, { requests }) => sum + requests, 0)).toBe(
        rows.filter(({ outcome }) => outcome === 'completed').length,
      );
    });
  });
});
