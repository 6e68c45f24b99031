import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { upsertKey, upsertTeam, upsertUser } from '#identity/index.ts';
import type { OpenDatabase } from '#database/index.ts';
import {
  listUsage,
  sumUsage,
  totalUsage,
  type Grouping,
  type SumFilter,
  type UsageFilter,
} from '#usage/index.ts';
import { charge, record, recordAll } from '../journal/records.ts';
import { change, dialects, isSkipped, openTestDatabase } from '../database/databases.ts';
import { key, team, user } from '../database/samples.ts';

describe.each(dialects)('%s', (dialect) => {
  describe.skipIf(isSkipped(dialect))('usage', () => {
    let opened: Awaited<ReturnType<typeof openTestDatabase>>;
    let database: OpenDatabase;
    beforeAll(async () => {
      opened = await openTestDatabase(dialect);
      ({ database } = opened);
      await change(database, async (file) => {
        await upsertUser(file, user);
        await upsertTeam(file, team);
        await upsertKey(file, { ...key, team: 'research' });
      });
      const row = await database.kysely.selectFrom('keys').selectAll().executeTakeFirstOrThrow();
      const known = { keyId: row.id, userId: row.user_id, teamId: row.team_id };
      // Several at the same time, so that pages must also be cut between equals.
      const records = Array.from({ length: 25 }, (_, index) =>
        record(`req_${String(index).padStart(3, '0')}`, {
          time: 1_000 + Math.floor(index / 5),
          model: index % 2 === 0 ? 'gpt-5' : '100%',
          ...(index < 20 ? known : {}),
        }),
      );
      await recordAll(database, records);
    });
    afterAll(() => opened.close());

    const list = (filter: UsageFilter) => listUsage(database.kysely, filter);
    const idsOf = async (filter: UsageFilter) => (await list(filter)).data.map(({ id }) => id);

    it('shows a row with names instead of ids', async () => {
      const [first] = (await list({ key: 'ci', limit: 1 })).data;
      expect(first).toEqual({
        id: 'req_019',
        time: '1970-01-01T00:00:01.003Z',
        key: 'ci',
        key_id: expect.stringMatching(/^key_/),
        user: 'ada@example.com',
        team: 'research',
        model: '100%',
        upstream_model: 'gpt-5',
        channel: 'openai-main',
        protocol: 'chat',
        operation: 'generate',
        client: 'other',
        stream: true,
        outcome: 'completed',
        status: 200,
        error: null,
        attempts: record('x').attempts.map(
          ({ startedAt, durationMs, upstreamRequestId, ...attempt }) => ({
            ...attempt,
            started_at: new Date(startedAt).toISOString(),
            duration_ms: durationMs,
            upstream_request_id: upstreamRequestId,
          }),
        ),
        tokens: {
          input: 10,
          cache_read: 1,
          cache_write: 2,
          cache_write_1h: 3,
          output: 20,
          reasoning: 5,
        },
        units: null,
        usage_unread: [],
        cost: null,
        receipt: null,
        estimated: false,
        quarantined: false,
        ttft_ms: 12,
        duration_ms: 345,
        rewrites: ['b1'],
        losses: ['top_k'],
        count: 1,
      });
    });

    it('returns every row once over pages, newest first, while rows are added', async () => {
      const seen: string[] = [];
      let cursor: string | null = null;
      do {
        const page = await list({ limit: 4, ...(cursor === null ? {} : { cursor }) });
        seen.push(...page.data.map(({ id }) => id));
        if (cursor === null) await recordAll(database, [record('req_new', { time: 9_000 })]);
        cursor = page.next;
      } while (cursor !== null);
      expect(seen).toEqual(
        Array.from({ length: 25 }, (_, index) => `req_${String(24 - index).padStart(3, '0')}`),
      );
    });

    it('filters by time, key, user, team and model', async () => {
      expect(await idsOf({ from: 1_001, to: 1_002 })).toHaveLength(5);
      for (const filter of [{ key: 'ci' }, { user: 'ADA@example.com' }, { team: 'research' }]) {
        expect(await idsOf(filter)).toHaveLength(20);
      }
      expect(await idsOf({ key: 'key_1' })).toHaveLength(6);
      expect(await idsOf({ model: '100%' })).toHaveLength(12);
    });

    it('treats wildcards and SQL in a filter as text', async () => {
      for (const text of ['%', '_', 'c%', "' or 1=1 --", '*', 'ci%']) {
        expect(await idsOf({ key: text })).toEqual([]);
        expect(await idsOf({ user: text })).toEqual([]);
        expect(await idsOf({ team: text })).toEqual([]);
        expect(await idsOf({ model: text })).toEqual([]);
      }
    });

    it('sums matching usage by rows and by hours, with names', async () => {
      const { kysely } = database;
      const day = 24 * 3_600_000;
      const charged = { model: 'sum', userId: 'usr_gone', charge: charge(2n ** 53n + 1n) };
      const records = [day, day + 1, 2 * day].map((time, index) =>
        record(`req_sum_${index}`, { ...charged, time }),
      );
      await recordAll(database, records);
      expect(await totalUsage(kysely, { model: 'sum' })).toEqual({
        requests: 3,
        cost: 3n * (2n ** 53n + 1n),
      });
      expect(await totalUsage(kysely, { model: 'none' })).toEqual({ requests: 0, cost: 0n });
      const tokens = {
        input: 20,
        cache_read: 2,
        cache_write: 4,
        cache_write_1h: 6,
        output: 40,
        reasoning: 10,
      };
      expect((await sumUsage(kysely, { model: 'sum' }, ['day']))[0]).toEqual({
        names: ['1970-01-02'],
        requests: 2,
        failed: 0,
        refused: 0,
        tokens,
        images: 0,
        video_ms: 0,
        video_tokens: 0,
        cost: 2n * (2n ** 53n + 1n),
        unbilled_tokens: 0,
        attempts: 2,
        failed_attempts: 0,
      });
      const namesBy = async (filter: SumFilter, by: Grouping) =>
        (await sumUsage(kysely, filter, [by])).map(({ names: [name], requests }) => [
          name,
          requests,
        ]);
      expect(await namesBy({}, 'user')).toEqual([
        ['usr_gone', 3],
        ['ada@example.com', 20],
        ['usr_1', 6],
      ]);
      expect(await namesBy({ user: 'Ada@example.com' }, 'key')).toEqual([['ci', 20]]);
      expect(await namesBy({ team: 'research' }, 'team')).toEqual([['research', 20]]);
      expect(await namesBy({ key: 'ci', to: 3_600_000 }, 'channel')).toEqual([['openai-main', 20]]);
      const summed = async (by: readonly Grouping[], zone?: string) =>
        (await sumUsage(kysely, { model: 'sum' }, by, zone)).map((sum) => [
          ...sum.names,
          sum.requests,
        ]);
      expect(await summed(['month'], 'America/New_York')).toEqual([['1970-01', 3]]);
      expect(await summed(['user', 'day'], 'America/New_York')).toEqual([
        ['usr_gone', '1970-01-01', 2],
        ['usr_gone', '1970-01-02', 1],
      ]);
      await expect(summed(['day'], 'Asia/Kolkata')).rejects.toThrow('whole hours only');
      const exact = { model: 'sum', from: day + 1, to: 2 * day + 1 };
      expect(await namesBy(exact, 'day')).toEqual([
        ['1970-01-02', 1],
        ['1970-01-03', 1],
      ]);
      expect(await namesBy({ ...exact, to: day + 2 }, 'hour')).toEqual([['1970-01-02T00:00Z', 1]]);
    });

    it('refuses a foreign cursor', async () => {
      for (const cursor of ['', 'x', Buffer.from("1' or 1=1").toString('base64url')]) {
        await expect(list({ cursor })).rejects.toThrow(RangeError);
      }
    });
  });
});
