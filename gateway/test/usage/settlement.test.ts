import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { OpenDatabase } from '#database/index.ts';
import { isDataError, lineVersion, readLines, toLine, type ExchangeRecord } from '#usage/index.ts';
import { dialects, isSkipped, openTestDatabase } from '../database/databases.ts';
import { charge, record, recordAll, recordLines, unpaidAttempt } from '../journal/records.ts';
import { seededRandom } from '../support/seeded-random.ts';

const random = seededRandom();

const hour = 3_600_000;

describe.each(dialects)('%s', (dialect) => {
  describe.skipIf(isSkipped(dialect))('settlement', () => {
    let opened: Awaited<ReturnType<typeof openTestDatabase>>;
    let database: OpenDatabase;
    beforeEach(async () => {
      opened = await openTestDatabase(dialect);
      ({ database } = opened);
    });
    afterEach(() => opened.close());

    const entries = () =>
      database.kysely
        .selectFrom('ledger_entries')
        .select(['transaction_id', 'account', 'amount', 'kind', 'time'])
        .orderBy('account')
        .execute();
    const rows = () => database.kysely.selectFrom('usage').selectAll().orderBy('id').execute();
    const spentNow = async () =>
      Object.fromEntries(
        (await database.kysely.selectFrom('spent_totals').selectAll().execute()).map(
          ({ meter, spent }) => [meter, spent],
        ),
      );

    it('books a batch as one transaction and names it in its rows', async () => {
      const records = [
        record('req_1', { charge: charge(10n) }),
        record('req_2', { charge: charge(20n, { overshoot: '3', held: '17' }) }),
        record('req_3', {
          teamId: 'team_1',
          charge: charge(5n, { payer: 'team', window: '2026-11-22' }),
        }),
        record('req_4', { charge: charge(0n) }),
        record('req_5'),
      ];
      await recordAll(database, records, { now: 7_000 });
      const booked = await entries();
      const [posting] = new Set(booked.map((entry) => entry.transaction_id));
      const shared = { transaction_id: posting, kind: 'usage', time: 7_000 };
      expect(booked).toEqual([
        { ...shared, account: 'revenue', amount: 35n },
        { ...shared, account: 'team:team_1', amount: -5n },
        { ...shared, account: 'user:usr_1', amount: -30n },
      ]);
      expect((await rows()).map((row) => row.posting)).toEqual([
        posting,
        posting,
        posting,
        null,
        null,
      ]);
      // Every meter, limited or not: a limit that is set later knows what was spent.
      expect(await spentNow()).toEqual({
        'user:usr_1:balance': 30n,
        'user:usr_1:quota': 30n,
        'key:key_1:quota': 35n,
        'team:team_1:balance': 5n,
        'team:team_1:daily:2026-11-22': 5n,
        'team:team_1:monthly:2026-11': 5n,
        'team:team_1:total': 5n,
        'team:team_1:member:usr_1': 5n,
      });
      expect((await rows()).map((row) => row.budget_window)).toEqual([
        null,
        null,
        '2026-11-22',
        null,
        null,
      ]);
      expect((await rows())[1]).toMatchObject({
        cost: 20n,
        payer: 'user',
        held: 17n,
        overshoot: 3n,
        price_version: 'price_1',
        multiplier: '1',
        receipt: expect.stringMatching(/"part": ?"output"/),
      });
    });

    it('counts a record once, however often and from wherever it is applied', async () => {
      const records = Array.from({ length: 45 }, (_, index) =>
        record(`req_${index}`, { charge: charge(BigInt(index)) }),
      );
      for (let time = 0; time < 25; time++) {
        const shuffled = records.toSorted(() => random() - 0.5);
        await Promise.all([0, 1, 2, 3].map((node) => apply(shuffled.slice(node * 7))));
      }
      await apply([...records, ...records]);
      const sum = 990n;
      expect(await spentNow()).toMatchObject({ 'user:usr_1:balance': sum, 'key:key_1:quota': sum });
      const revenue = (await entries()).filter(({ account }) => account === 'revenue');
      expect(revenue.reduce((total, { amount }) => total + amount, 0n)).toBe(sum);
      const hours = await database.kysely.selectFrom('usage_hourly').selectAll().execute();
      expect(hours).toMatchObject([{ requests: 45, cost: sum, output_tokens: 45 * 20 }]);
    });

    /** Two that meet on PostgreSQL may be told to try again, as the applier does. */
    async function apply(records: readonly ExchangeRecord[]): Promise<void> {
      for (;;) {
        try {
          await recordAll(database, records);
          return;
        } catch (error) {
          if ((error as { code?: string }).code !== '40P01') throw error;
        }
      }
    }

    it('counts a record that comes twice in one batch once', async () => {
      const twice = record('req_1', { charge: charge(10n) });
      await recordAll(database, [twice, twice]);
      expect((await entries()).map(({ amount }) => amount)).toEqual([10n, -10n]);
    });

    it('leaves nothing when the same batch comes again', async () => {
      const records = [record('req_1', { charge: charge(10n) })];
      await recordAll(database, records);
      const before = await entries();
      await recordAll(database, records);
      expect(await entries()).toEqual(before);
    });

    it('sums by the hour, without the names of models that were only tried', async () => {
      const at = 1_000 * hour;
      const records = [
        record('req_1', { time: at, charge: charge(10n) }),
        record('req_2', { time: at + hour - 1, outcome: 'failed' }),
        record('req_3', { time: at + hour }),
        record('req_4', { time: at, model: 'x1', attempts: [], channel: null, outcome: 'refused' }),
        record('req_5', { time: at, model: 'x2', attempts: [], channel: null, outcome: 'refused' }),
      ];
      await recordAll(database, records);
      const found = await database.kysely
        .selectFrom('usage_hourly')
        .select(['hour', 'model', 'channel', 'requests', 'failed', 'cost', 'cache_write_tokens'])
        .orderBy('hour')
        .orderBy('model')
        .execute();
      const known = { model: 'gpt-5', channel: 'openai-main' };
      expect(found).toEqual([
        {
          hour: at,
          model: '',
          channel: '',
          requests: 2,
          failed: 2,
          cost: 0n,
          cache_write_tokens: 4,
        },
        { hour: at, ...known, requests: 2, failed: 1, cost: 10n, cache_write_tokens: 4 },
        { hour: at + hour, ...known, requests: 1, failed: 0, cost: 0n, cache_write_tokens: 2 },
      ]);
    });

    it('sums unbilled tokens by the channel that used them', async () => {
      const answered = record('').attempts;
      const records = [
        record('req_1', { attempts: [unpaidAttempt('spare', 4), ...answered] }),
        record('req_2', {
          attempts: [unpaidAttempt('spare', 14), unpaidAttempt('openai-main', 84)],
          outcome: 'failed',
          channel: null,
        }),
      ];
      await recordAll(database, records);
      const found = await database.kysely
        .selectFrom('usage_hourly')
        .select(['channel', 'requests', 'output_tokens', 'unbilled_tokens'])
        .orderBy('channel')
        .execute();
      expect(found).toEqual([
        { channel: '', requests: 1, output_tokens: 20, unbilled_tokens: 0 },
        { channel: 'openai-main', requests: 1, output_tokens: 20, unbilled_tokens: 100 },
        { channel: 'spare', requests: 0, output_tokens: 0, unbilled_tokens: 50 },
      ]);
    });

    it('accepts lines of the version before charges', async () => {
      const line = JSON.parse(toLine(record('req_old'))) as unknown[];
      const lines = JSON.stringify(line.slice(0, 28));
      await recordLines(database, readLines([{ version: 1, lines }]));
      expect(await rows()).toMatchObject([{ id: 'req_old', cost: null, receipt: null }]);
      expect(await entries()).toEqual([]);
    });

    it('a line of the versions before counts is one exchange, in its row and its hour', async () => {
      const refused = record('req_', { outcome: 'refused', attempts: [] });
      const older = [28, 36, 37].map((length, index) => {
        const line = JSON.parse(toLine({ ...refused, id: `req_${length}` })) as unknown[];
        return { version: index + 1, lines: JSON.stringify(line.slice(0, length)) };
      });
      const lines = toLine({ ...refused, count: 140 });
      await recordLines(database, readLines([...older, { version: lineVersion, lines }]));
      expect((await rows()).map((row) => row.count).toSorted((a, b) => a - b)).toEqual([
        1, 1, 1, 140,
      ]);
      const hours = await database.kysely.selectFrom('usage_hourly').selectAll().execute();
      expect(hours).toMatchObject([{ requests: 143, failed: 143 }]);
    });

    it('holds amounts beyond what a JSON number holds', async () => {
      const cost = 2n ** 53n + 1n;
      await recordAll(database, [record('req_1', { charge: charge(cost) })]);
      expect((await rows())[0]?.cost).toBe(cost);
      expect((await entries()).map(({ amount }) => amount)).toEqual([cost, -cost]);
    });

    it('refuses an impossible charge permanently', async () => {
      const most = String(2n ** 63n - 1n);
      await recordAll(database, [record('req_0', { charge: charge(1n, { cost: most }) })]);
      const tooMuch = { cost: String(2n ** 63n) };
      const team = { payer: 'team', window: '2026-11-22' } as const;
      const nobody = [team, { window: '2026-11-22' }];
      const impossible = [{ cost: '-1' }, { cost: '1.5' }, tooMuch, ...nobody];
      for (const parts of impossible) {
        const records = [record('req_1', { charge: charge(1n, parts) })];
        const error: unknown = await recordAll(database, records).catch(
          (thrown: unknown) => thrown,
        );
        expect(isDataError(error)).toBe(true);
      }
      // One that the total cannot take any more is refused as well, and the total stays.
      const more = [record('req_2', { charge: charge(1n) })];
      const error: unknown = await recordAll(database, more).catch((thrown: unknown) => thrown);
      expect(isDataError(error)).toBe(true);
      expect((await rows()).map(({ id }) => id)).toEqual(['req_0']);
    });
  });
});
