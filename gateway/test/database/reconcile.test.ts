import { setTimeout as wait } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { listTeams, listUsers, upsertTeam, upsertUser } from '#identity/index.ts';
import type { OpenDatabase } from '#database/index.ts';
import type { ExchangeRecord } from '#usage/index.ts';
import { removeOldUsage } from '#usage/retention.repository.ts';
import { balances, creditAccount, lateCharges, reconcile, type Difference } from '#ledger/index.ts';
import { checkMeters } from '#ledger/reconcile/meters.repository.ts';
import { charge, keepPrice, record, recordAll, unpaidAttempt } from '../journal/records.ts';
import { change, dialects, isSkipped, openTestDatabase } from './databases.ts';
import { team, user } from './samples.ts';

const hour = 3_600_000;
const start = Date.UTC(2026, 10, 21);
const books = { transactions: 6, postings: 6, accounts: 4, meters: 11 };

describe.each(dialects)('%s', (dialect) => {
  describe.skipIf(isSkipped(dialect))('reconcile', () => {
    let opened: Awaited<ReturnType<typeof openTestDatabase>>;
    let database: OpenDatabase;
    let userId: string;
    let teamId: string;
    beforeEach(async () => {
      opened = await openTestDatabase(dialect);
      ({ database } = opened);
      await keepPrice(database);
      await change(database, async (file) => {
        await upsertUser(file, user);
        await upsertTeam(file, team);
      });
      userId = (await listUsers(database.kysely))[0]?.id ?? '';
      teamId = (await listTeams(database.kysely))[0]?.id ?? '';
      await change(database, (file) =>
        creditAccount(file, {
          account: `user:${userId}`,
          amount: 77n,
          kind: 'top-up',
          actor: 'test',
          reason: 'a test',
        }),
      );
      // Three batches over six hours: of a user, of a team, free ones and failed ones.
      for (const batch of [0, 1, 2]) {
        const records = Array.from({ length: 20 }, (_, index) => exchange(batch, index));
        await recordAll(database, records, { now: start + batch * 1_000 });
      }
    });
    afterEach(() => opened.close());

    function exchange(batch: number, index: number): ExchangeRecord {
      const time = start + batch * 2 * hour + index * 300_000;
      const shared = { time, userId, keyId: `key_${index % 3}`, model: `model-${index % 2}` };
      const id = `req_${batch}_${index}`;
      if (index % 5 === 0) {
        const attempts = [unpaidAttempt('spare', index), unpaidAttempt('openai-main', 1)];
        return record(id, { ...shared, attempts, outcome: 'failed' });
      }
      if (index % 5 === 1) return record(id, { ...shared, charge: charge(0n) });
      const cost = BigInt(index * 7 + batch);
      if (index % 5 === 2) {
        const charged = { payer: 'team', window: `2026-11-2${index % 2}` } as const;
        return record(id, { ...shared, teamId, charge: charge(cost, charged) });
      }
      return record(id, { ...shared, units: { images: 2, layers: 3 }, charge: charge(cost) });
    }

    async function run(range = {}) {
      const differences: Difference[] = [];
      const checked = await reconcile(database, range, (found) => differences.push(found));
      return { checked, differences };
    }

    it('finds nothing in correct books, and checks everything', async () => {
      expect(await run()).toEqual({
        checked: { rows: 60, openings: 2, ...books, keys: 3, tasks: 0, hours: 6 },
        differences: [],
      });
    });

    it('adds up what was charged without a lease', async () => {
      const { kysely } = database;
      expect(await lateCharges(kysely, {})).toEqual({ count: 0, amount: 0n });
      await sql`update usage set late = 7 where id = 'req_1_13'`.execute(kysely);
      expect(await lateCharges(kysely, {})).toEqual({ count: 1, amount: 7n });
      expect(await lateCharges(kysely, { to: start })).toEqual({ count: 0, amount: 0n });
    });

    it('checks only rows and hours for a range', async () => {
      const { checked } = await run({ from: start + 2 * hour, to: start + 4 * hour });
      expect(checked).toEqual({ rows: 20, hours: 2 });
    });

    const rowOf = `where id = 'req_1_13'`;
    it.each([
      [
        `update usage set receipt = '[{"part":"x","quantity":1,"rate":"1"}]' ${rowOf}`,
        ['receipt', 'price'],
      ],
      [`update usage set receipt = 'x' ${rowOf}`, ['receipt']],
      // The same cost by other numbers.
      [
        `update usage set receipt = '[{"part":"output","quantity":1,"rate":"92000000"}]' ${rowOf}`,
        ['price'],
      ],
      [
        `update usage set receipt = '[{"part":"tokens","quantity":92,"rate":"1000000"}]' ${rowOf}`,
        ['price'],
      ],
      [`update usage set price_version = 'price_2' ${rowOf}`, ['price']],
      [`update usage set price_version = null ${rowOf}`, ['price']],
      [
        `update price_versions set price = '{"output":"0.002"}'`,
        Array.from({ length: 48 }, () => 'price'),
      ],
      [`delete from price_versions`, Array.from({ length: 48 }, () => 'price')],
      [
        `update usage set cost = cost + 1 ${rowOf}`,
        ['receipt', 'hour', 'posting', 'meter', 'meter', 'meter'],
      ],
      [`update usage set overshoot = 5 ${rowOf}`, ['charge']],
      [`update usage set held = 1 ${rowOf}`, ['charge']],
      [`update usage set outcome = 'failed' ${rowOf}`, ['charge', 'hour']],
      [
        `update usage set budget_window = '2026-11-21' ${rowOf}`,
        ['charge', 'meter', 'meter', 'meter'],
      ],
      [
        `update usage set budget_window = '2026-12-01' where id = 'req_1_12'`,
        ['meter', 'meter', 'meter', 'meter'],
      ],
      [`update usage set key_id = 'key_0' ${rowOf}`, ['hour', 'hour', 'meter', 'meter']],
      [`update usage set posting = null ${rowOf}`, ['charge', 'posting']],
      [`update usage set posting = 'tx_0' ${rowOf}`, ['posting', 'posting']],
      [
        `update usage set payer = 'team', team_id = 'team_x', budget_window = '2026-11-21' ${rowOf}`,
        ['hour', 'hour', 'posting', 'posting', ...Array.from({ length: 7 }, () => 'meter')],
      ],
      [`update usage set output_tokens = 21 ${rowOf}`, ['hour']],
      [`update usage set count = 2 ${rowOf}`, ['hour']],
      [`update usage set units = '{"images":3}' ${rowOf}`, ['hour']],
      [`update usage set attempts = '[{}]' where id = 'req_1_0'`, ['hour', 'hour']],
      [
        `update usage_hourly set unbilled_tokens = 0 where channel = 'spare' and key_id = 'key_0'`,
        ['hour', 'hour', 'hour', 'hour', 'hour', 'hour'],
      ],
      [`delete from usage ${rowOf}`, ['hour', 'posting', 'meter', 'meter', 'meter']],
      [
        `update usage_hourly set requests = requests + 1 where key_id = 'key_2' and model = 'model-1' and channel = 'openai-main' and hour = ${start}`,
        ['hour'],
      ],
      [
        `update spent_totals set spent = spent - 1 where meter like 'key:%:quota'`,
        ['meter', 'meter', 'meter', 'key', 'key', 'key'],
      ],
      [
        `update spent_totals set spent = spent + 1 where meter like 'team:%:balance'`,
        ['account', 'meter'],
      ],
      [
        `delete from spent_totals where meter like 'team:%:balance'`,
        ['account', 'credit', 'meter'],
      ],
      [
        `update spent_totals set credited = credited + 1 where meter like 'user:%:balance'`,
        ['credit'],
      ],
      [`update spent_totals set leased = 1 where meter like 'team:%:balance'`, ['lease']],
      [`insert into leases values ('user:usr_1:balance', 'life_1', 2, 1, 0)`, ['lease']],
      [
        `insert into ledger_entries (transaction_id, account, amount, kind, time) values ('tx_z', 'funding', 1, 'top-up', 0)`,
        ['transaction'],
      ],
      [
        `insert into ledger_entries (transaction_id, account, amount, kind, time)
         values ('tx_z', 'user:nobody', -1, 'usage', 0), ('tx_z', 'revenue', 1, 'usage', 0)`,
        ['posting', 'account'],
      ],
      [
        `insert into ledger_entries (transaction_id, account, amount, kind, time)
         values ('tx_z', 'user:nobody', 1, 'top-up', 0), ('tx_z', 'revenue', -1, 'top-up', 0)`,
        ['transaction'],
      ],
      [
        `insert into ledger_entries (transaction_id, account, amount, kind, time)
         values ('tx_z', 'revenue', 1, 'usage', 0), ('tx_z', 'funding', -1, 'usage', 0)`,
        ['transaction', 'posting', 'account'],
      ],
      [
        `insert into ledger_entries (transaction_id, account, amount, kind, time)
         values ('tx_z', 'user:nobody', 1, 'correction', 0), ('tx_z', 'funding', -1, 'correction', 0)`,
        ['transaction'],
      ],
      [`update users set opening_credit = opening_credit + 1`, ['opening']],
      [`update teams set opening_credit = opening_credit - 1`, ['opening']],
      [
        `update usage_hourly set cost = cost + 1
         where key_id = 'key_2' and model = 'model-1' and channel = 'openai-main' and hour = ${start}`,
        ['hour', 'key'],
      ],
    ])('finds what %s does', async (statement, checks) => {
      await sql.raw(statement).execute(database.kysely);
      const { differences } = await run();
      expect(differences.map(({ check }) => check)).toEqual(checks);
    });

    it('reports which account is off by how much', async () => {
      await sql`update usage set cost = cost + 1 where id = 'req_1_13'`.execute(database.kysely);
      const { differences } = await run();
      const posting = differences.find(({ check }) => check === 'posting');
      expect(posting?.subject).toMatch(new RegExp(`^tx_[0-9a-f]{28} user:${userId}$`));
      expect(BigInt(posting?.expected ?? 0) - BigInt(posting?.found ?? 0)).toBe(1n);
    });

    it('holds few meters at a time', async () => {
      await sql`update spent_totals set spent = spent - 1`.execute(database.kysely);
      const found = await Array.fromAsync(checkMeters(database.kysely, 2));
      expect(found).toHaveLength(11);
    });

    it('continues after retention has removed rows, in small steps', async () => {
      const { kysely } = database;
      const before = await balances(kysely, [`user:${userId}`, `team:${teamId}`]);
      const cut = start + 2 * hour + 1_500_000;
      const steps: number[] = [];
      do steps.push(await removeOldUsage(database, cut, 10));
      while (steps.at(-1) !== 0);
      expect(steps).toEqual([10, 10, 5, 0]);
      const left = await kysely.selectFrom('usage').select('time').execute();
      expect(left.map(({ time }) => time).every((time) => time >= cut)).toBe(true);
      expect(await balances(kysely, [`user:${userId}`, `team:${teamId}`])).toEqual(before);
      // The hour that the cut goes through cannot be checked any more.
      expect(await run()).toEqual({
        checked: { rows: 35, openings: 2, ...books, keys: 3, tasks: 0, hours: 3 },
        differences: [],
      });
      await sql`update usage_hourly set cost = cost + 1 where hour = ${start}`.execute(kysely);
      const { differences } = await run();
      expect(new Set(differences.map(({ check }) => check))).toEqual(new Set(['key']));
      await sql`update usage_hourly set cost = cost - 1 where hour = ${start}`.execute(kysely);
      await sql`update removed_usage set cost = cost + 1`.execute(kysely);
      const kinds = new Set((await run()).differences.map(({ check }) => check));
      expect(kinds).toEqual(new Set(['posting', 'meter']));
    });

    it('finds nothing while rows are added and removed', async () => {
      const end = new AbortController();
      const writing = (async () => {
        for (let batch = 3; !end.signal.aborted; batch++) {
          const records = Array.from({ length: 20 }, (_, index) => exchange(batch, index));
          await recordAll(database, records);
          await removeOldUsage(database, start + (batch - 2) * hour, 20);
          await wait(20);
        }
      })();
      for (let round = 0; round < 5; round++) expect((await run()).differences).toEqual([]);
      end.abort();
      await writing;
    });
  });
});
