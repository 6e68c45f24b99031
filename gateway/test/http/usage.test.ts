import { describe, expect, it } from 'vitest';
import type { UsageQuestion } from '#endpoints/usage/routes.ts';
import type { UsageSum } from '#usage/index.ts';
import { call, key, now, startGateway } from './support.ts';

const authorization = `Bearer ${key}`;
const tokens = {
  input: 1,
  cache_read: 2,
  cache_write: 3,
  cache_write_1h: 4,
  output: 5,
  reasoning: 6,
};
const none = { video_ms: 0, video_tokens: 0 };
const sums: UsageSum[] = [
  {
    names: ['gpt'],
    requests: 3,
    failed: 1,
    refused: 0,
    tokens,
    images: 2,
    video_ms: 5_000,
    video_tokens: 700,
    cost: 1_500_000_000n,
    unbilled_tokens: 9,
    attempts: 4,
    failed_attempts: 1,
  },
  {
    names: ['fast'],
    requests: 1,
    failed: 0,
    refused: 0,
    tokens,
    images: 0,
    ...none,
    cost: 1n,
    unbilled_tokens: 0,
    attempts: 1,
    failed_attempts: 0,
  },
];

async function ask(query: string, settings: Parameters<typeof startGateway>[0] = {}) {
  const asked: (UsageQuestion & { keyId: string })[] = [];
  const gateway = await startGateway({
    usage: {
      sums: async (question) => {
        asked.push(question);
        return sums;
      },
      spentSource: async () =>
        new Map([
          ['user:user-1:balance', 30_000_000_000n],
          ['key:key-1:quota', 6_000_000_000n],
          ['team:team-1:balance', 1n],
          ['team:team-1:daily:2026-11-20', 2n],
          ['team:team-1:daily:2026-11-21', 77n],
          ['team:team-1:monthly:2026-11', 3n],
          ['team:team-1:member:user-1', 4n],
        ]),
      heldSource: async () => new Map([['key:key-1:quota', 1_000_000_000n]]),
    },
    ...settings,
  });
  const response = await call(gateway.port, `/v1/usage${query}`, { headers: { authorization } });
  return { response, asked, gateway };
}

describe('GET /v1/usage', () => {
  it("returns the key's own sums and limits", async () => {
    const { response, asked } = await ask('', { caller: { quota: 5_000_000_000n, rpm: 60 } });
    expect(response.status).toBe(200);
    expect(response.headers['content-type']).toBe('application/json');
    expect(response.json).toEqual({
      object: 'usage',
      from: '2026-10-22T00:00:00.000Z',
      to: '2026-11-21T00:00:00.000Z',
      currency: 'USD',
      cost: '1.500000001',
      requests: 4,
      data: [
        {
          model: 'gpt',
          requests: 3,
          failed: 1,
          tokens,
          images: 2,
          video_ms: 5_000,
          video_tokens: 700,
          cost: '1.5',
        },
        { model: 'fast', requests: 1, failed: 0, tokens, images: 0, ...none, cost: '0.000000001' },
      ],
      limits: {
        balance: '70',
        key_quota: { limit: '5', used: '6', held: '1', remaining: '0' },
        user_quota: null,
        team: null,
        rpm: 60,
        rph: null,
      },
    });
    expect(asked).toEqual([{ keyId: 'key-1', from: now - 30 * 86_400_000, to: now, by: 'model' }]);
  });

  it("shows a team's limits by the clock of the team, and the counted money rather than the database's", async () => {
    const money = {
      read: (meter: string) =>
        meter === 'team:team-1:balance' ? { spentAmount: 10n, heldAmount: 20n } : null,
    };
    const team = {
      id: 'team-1',
      name: 'research',
      funding: 100n,
      rpm: 600,
      dailyBudget: 10n,
      monthlyBudget: 10n,
      totalBudget: null,
      enabled: true,
      unleasedMost: null,
      timeZone: 'America/New_York',
      openWindow: null,
    };
    const { response } = await ask('', {
      money,
      caller: { team, teamId: 'team-1', memberBudget: 10n, rph: 5 },
    });
    /** Of 10 nano-USD. */
    const limit = (used: number, left: number) => ({
      limit: '0.00000001',
      used: `0.00000000${used}`,
      held: '0',
      remaining: `0.00000000${left}`,
    });
    expect(response.json?.['limits']).toEqual({
      balance: '0.00000007',
      key_quota: null,
      user_quota: null,
      team: {
        name: 'research',
        rpm: 600,
        daily: { window: '2026-11-20', ...limit(2, 8) },
        monthly: { window: '2026-11', ...limit(3, 7) },
        total: null,
        member: limit(4, 6),
      },
      rpm: null,
      rph: 5,
    });
  });

  it('accepts a range and a grouping; a range begins at a whole hour', async () => {
    const range = '?from=2026-11-01T10:59:00Z&to=2026-11-02T12:00:00%2B02:00&group_by=day';
    const { response, asked } = await ask(range);
    expect(asked).toMatchObject([
      { from: Date.UTC(2026, 10, 1, 10), to: Date.UTC(2026, 10, 2, 10), by: 'day' },
    ]);
    expect(response.json?.['data']).toMatchObject([{ day: 'gpt' }, { day: 'fast' }]);
  });

  it.each([
    ['?from=yesterday', 'from', 'from must be a time with its zone such as'],
    ['?to=2026-11-21', 'to', 'to must be a time with its zone such as'],
    ['?from=2026-11-22T00:00:00Z', 'from', 'from must be earlier than to'],
    ['?group_by=user', 'group_by', "group_by must be 'model' or 'day'"],
  ])('%s is refused with the name of what is wrong', async (query, param, message) => {
    const { response } = await ask(query);
    expect(response.status).toBe(400);
    expect(response.json).toMatchObject({
      error: { type: 'invalid_request_error', param, message: expect.stringContaining(message) },
    });
  });

  it('requires a key, counts against no rate, and reports an unreachable database', async () => {
    const { gateway } = await ask('', { caller: { rpm: 0, rph: 0 } });
    const { port } = gateway;
    expect((await call(port, '/v1/usage')).status).toBe(401);
    expect((await call(port, '/v1/usage', { headers: { authorization } })).status).toBe(200);
    expect((await call(port, '/v1/usage', { method: 'POST' })).headers['allow']).toContain('GET');

    const sums = async () => Promise.reject(new Error('canary: the database is unreachable'));
    const { response } = await ask('', {
      usage: { sums, spentSource: async () => new Map(), heldSource: async () => new Map() },
    });
    expect(response.status).toBe(503);
    expect(response.text).not.toContain('canary');
  });
});
