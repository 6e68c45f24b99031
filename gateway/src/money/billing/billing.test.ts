import { describe, expect, test } from 'vitest';
import { noTokens, type TokenUsage } from '#canonical/index.ts';
import type { Caller, CallerTeam } from '#identity/index.ts';
import type { Group, Model } from '#catalogue/index.ts';
import { createMemoryMoney, unlimited } from '#limits/index.ts';
import { GatewayError } from '#errors/index.ts';
import type { CostLine } from './cost.ts';
import { createBilling, type Hold, type Order } from './billing.ts';
import { textBound } from './hold-bound.ts';
import { metersOf } from './meters.ts';
import type { PriceRates } from './rates.ts';
import { tokenLines } from './usage-lines.ts';

const cent = 10_000_000n;
const now = Date.UTC(2026, 10, 21, 16, 30);

const user = { id: 'usr_1', funding: 100n * cent, quota: null };
const caller: Caller = {
  keyId: 'key_1',
  keyName: 'k',
  userId: user.id,
  teamId: null,
  user,
  team: null,
  memberBudget: null,
  group: 'default',
  models: null,
  ips: [],
  expiresAt: null,
  quota: null,
  rpm: null,
  rph: null,
  maxConcurrency: null,
  conversion: 'lenient',
  capOutput: true,
  enabled: true,
};
const team: CallerTeam = {
  id: 'team_1',
  name: 't',
  funding: 100n * cent,
  rpm: null,
  dailyBudget: 50n * cent,
  monthlyBudget: 60n * cent,
  totalBudget: 70n * cent,
  enabled: true,
  unleasedMost: null,
  timeZone: 'Asia/Shanghai',
  openWindow: null,
};
const member: Caller = { ...caller, teamId: team.id, team, memberBudget: 80n * cent };

const model = {
  id: 'm',
  type: 'chat',
  // 0.0001 USD per token in and out.
  price: { input: '100', output: '100' },
  priceVersion: 'v1',
  maxOutputTokens: 1_000,
  contextWindow: 10_000,
} as unknown as Model;
const group: Group = { name: 'default', priceMultiplier: '1' };

function setUp() {
  const money = createMemoryMoney({
    now: () => now,
    monotonic: () => 0,
    spentSource: async () => new Map(),
  });
  const billing = createBilling({ money, now: () => now });
  let count = 0;
  const order = (change: Partial<Order> = {}): Order => ({
    id: `req_${(count += 1)}`,
    caller,
    model,
    group,
    bound: (rates) => textBound(rates, model, { bodyBytes: 200, outputLimit: 400, choices: 1 }),
    expiresAt: now + 60_000,
    ...change,
  });
  return {
    money,
    billing,
    order,
    hold: async (change?: Partial<Order>) => billing.hold(order(change)),
  };
}

const linesOf = (tokens: TokenUsage) => (rates: PriceRates) => tokenLines(rates, tokens);

const nameOf = async (promise: Promise<unknown>) => {
  try {
    await promise;
    return 'held';
  } catch (error) {
    if (error instanceof GatewayError) return error.errorName;
    throw error;
  }
};

test('an extension about which nobody can decide has an error, and takes nothing', async () => {
  const { money, order } = setUp();
  let isAway = false;
  const billing = createBilling({
    money: {
      ...money,
      hold: (request) =>
        isAway ? Promise.reject(new GatewayError('unavailable')) : money.hold(request),
    },
    now: () => now,
  });
  const hold = (await billing.hold(order()))!;
  const { amount } = hold;
  isAway = true;
  expect(await billing.extend(hold, cent)).toMatchObject({ errorName: 'unavailable' });
  expect(hold).toMatchObject({ amount, extensions: [] });
  isAway = false;
  expect(await billing.extend(hold, cent)).toBeNull();
  expect(hold.amount).toBe(amount + cent);
});

describe('the limits of a caller', () => {
  test('in the order in which the first exhausted one is named', () => {
    const limited = { ...caller, user: { ...user, quota: 1n }, quota: 2n };
    expect(metersOf(limited, now)).toMatchObject({
      meters: [
        { name: 'user:usr_1:balance', limit: 100n * cent, floor: cent },
        { name: 'user:usr_1:quota', limit: 1n, floor: 1n },
        { name: 'key:key_1:quota', limit: 2n, floor: 1n },
      ],
      window: null,
    });
  });

  test('that are not set count too', () => {
    expect(metersOf(caller, now).meters.slice(1)).toEqual([
      { name: 'user:usr_1:quota', limit: unlimited, floor: 1n },
      { name: 'key:key_1:quota', limit: unlimited, floor: 1n },
    ]);
    const bare = { ...team, dailyBudget: null, monthlyBudget: null, totalBudget: null };
    expect(
      metersOf({ ...member, team: bare, memberBudget: null }, now).meters.map(({ limit }) => limit),
    ).toEqual([team.funding, ...Array.from({ length: 5 }, () => unlimited)]);
  });

  test('of a key that acts for a team are the team’s, by the dates of its zone', () => {
    const limited = { ...member, quota: 2n, user: { ...user, quota: 1n } };
    expect(metersOf(limited, now)).toMatchObject({
      meters: [
        { name: 'team:team_1:balance', limit: team.funding, floor: cent },
        { name: 'key:key_1:quota', limit: 2n, floor: 1n },
        // It is half past midnight in Shanghai.
        { name: 'team:team_1:daily:2026-11-22', limit: team.dailyBudget, floor: 1n },
        { name: 'team:team_1:monthly:2026-11', limit: team.monthlyBudget, floor: 1n },
        { name: 'team:team_1:total', limit: team.totalBudget, floor: 1n },
        { name: 'team:team_1:member:usr_1', limit: member.memberBudget, floor: 1n },
      ],
      window: '2026-11-22',
    });
  });

  test('B-16 a window ends at the zone’s midnight, for a caller who was seen before it', () => {
    const { meters: before } = metersOf(member, Date.UTC(2026, 10, 20, 15, 59, 59, 999));
    const { meters: after } = metersOf(member, Date.UTC(2026, 10, 20, 16));
    expect(before.map(({ name }) => name)).toContain('team:team_1:daily:2026-11-20');
    expect(after.map(({ name }) => name)).toContain('team:team_1:daily:2026-11-21');
  });
});

describe('a hold', () => {
  test('is the most the request can cost: half its bytes in, its limit out', async () => {
    const { hold } = setUp();
    // (100 + 400) tokens at 0.0001 USD
    expect((await hold())?.amount).toBe(5n * cent);
  });

  test('is what is left when that is less', async () => {
    const { hold } = setUp();
    const poor = { ...caller, user: { ...user, funding: 2n * cent } };
    expect((await hold({ caller: poor }))?.amount).toBe(2n * cent);
    expect(await nameOf(hold({ caller: poor }))).toBe('insufficient_balance');
  });

  test('B-22 a balance of a cent admits, less does not', async () => {
    const { hold } = setUp();
    const holder = (id: string, funding: bigint) => ({ ...caller, user: { ...user, id, funding } });
    expect(await nameOf(hold({ caller: holder('usr_2', cent) }))).toBe('held');
    expect(await nameOf(hold({ caller: holder('usr_3', cent - 1n) }))).toBe('insufficient_balance');
  });

  test.each([
    ['insufficient_balance', { ...caller, user: { ...user, funding: 0n, quota: 0n }, quota: 0n }],
    ['user_quota_exceeded', { ...caller, user: { ...user, quota: 0n }, quota: 0n }],
    ['key_quota_exceeded', { ...caller, quota: 0n }],
    ['insufficient_balance', { ...member, team: { ...team, funding: 0n, dailyBudget: 0n } }],
    ['key_quota_exceeded', { ...member, quota: 0n, team: { ...team, dailyBudget: 0n } }],
    [
      'team_daily_budget_exceeded',
      { ...member, team: { ...team, dailyBudget: 0n, monthlyBudget: 0n } },
    ],
    [
      'team_monthly_budget_exceeded',
      { ...member, team: { ...team, monthlyBudget: 0n, totalBudget: 0n } },
    ],
    [
      'team_total_budget_exceeded',
      { ...member, memberBudget: 0n, team: { ...team, totalBudget: 0n } },
    ],
    ['member_budget_exceeded', { ...member, memberBudget: 0n }],
  ])('%s', async (expected, who) => {
    const { hold } = setUp();
    expect(await nameOf(hold({ caller: who }))).toBe(expected);
  });

  test('B-12 that one limit refuses holds nothing on the others', async () => {
    const { hold, money } = setUp();
    await nameOf(hold({ caller: { ...member, memberBudget: 0n } }));
    expect(money.read('team:team_1:balance')).toMatchObject({ heldAmount: 0n });
  });

  test('counts what was spent before a limit was set', async () => {
    const { hold, billing, money } = setUp();
    const held = (await hold()) as Hold;
    billing.commitHold(held, {
      ...billing.charge(held, linesOf(noTokens), 'reported'),
      cost: '30',
    });
    const names = ['user:usr_1:balance', 'user:usr_1:quota', 'key:key_1:quota'];
    for (const name of names)
      expect(money.read(name)).toEqual({ spentAmount: 30n, heldAmount: 0n });
    expect(await nameOf(hold({ caller: { ...caller, quota: 30n } }))).toBe('key_quota_exceeded');
    const limited = { ...caller, user: { ...user, quota: 30n } };
    expect(await nameOf(hold({ caller: limited }))).toBe('user_quota_exceeded');
    expect((await hold({ caller: { ...caller, quota: 32n } }))?.amount).toBe(2n);
  });

  test('a team’s key does not spend what its user has', async () => {
    const { hold } = setUp();
    const bare = { ...member, user: { ...user, funding: 0n, quota: 0n } };
    expect((await hold({ caller: bare }))?.payer).toBe('team');
  });

  test.each([
    ['a free model', { model: { ...model, price: { input: '0', output: '0' } } }],
    ['a free group', { group: { ...group, priceMultiplier: '0' } }],
    [
      'free pictures',
      {
        model: {
          ...model,
          type: 'image' as const,
          price: { imageTiers: [{ name: '1K', maxPixels: 100, price: '0' }] },
        },
      },
    ],
  ])('is not needed for %s, whatever the balance', async (_what, change) => {
    const { hold } = setUp();
    const broke = { ...caller, user: { ...user, funding: 0n } };
    expect(await hold({ caller: broke, ...change })).toBeNull();
  });
});

test('a free model whose searches cost something is held for', async () => {
  const { hold } = setUp();
  const price = { input: '0', output: '0', fees: { web_search: '0.1' } };
  const searching = { ...model, price };
  const bound = (rates: PriceRates) =>
    textBound(rates, searching, { bodyBytes: 1, outputLimit: 1, choices: 1, webSearches: 2 });
  expect((await hold({ model: searching, bound }))?.amount).toBe(20n * cent);
});

test('an embedding is held for and charged at the price of its input alone', async () => {
  const { billing, order } = setUp();
  const embedding = { ...model, type: 'embedding', price: { input: '100' } } as Model;
  const lines = ({ input }: PriceRates, quantity: number): CostLine[] => [
    { rate: input!, quantity },
  ];
  const bound = (rates: PriceRates) => lines(rates, 300);
  const held = (await billing.hold(order({ model: embedding, bound }))) as Hold;
  expect(held.amount).toBe(3n * cent);
  expect(billing.charge(held, (rates) => lines(rates, 7), 'reported')).toMatchObject({
    cost: '700000',
    receipt: [{ part: 'input', quantity: 7 }],
  });
});

describe('a model that lacks a price for what it does', () => {
  const withPrice = (change: Partial<Model>): Model => ({ ...model, ...change });

  test.each([
    ['input alone, for text', withPrice({ price: { input: '1' } })],
    ['input alone at 0, for text', withPrice({ price: { input: '0' } })],
    ['output alone at 0, for text', withPrice({ price: { output: '0' } })],
    ['a fee alone at 0, for text', withPrice({ price: { fees: { web_search: '0' } } })],
    ['seconds of video, for text', withPrice({ price: { videoSecond: { '720P': '1' } } })],
    ['nothing', withPrice({ price: {} })],
    ['no price', withPrice({ price: null })],
    ['tokens, for video', withPrice({ type: 'video' })],
  ])('is not free, and nothing is held: %s', async (_what, unpriced) => {
    const { hold, billing } = setUp();
    expect(await nameOf(hold({ model: unpriced }))).toBe('internal_error');
    expect(() => billing.isFree(unpriced, group)).toThrow(GatewayError);
    const freeGroup = { ...group, priceMultiplier: '0' };
    expect(await nameOf(hold({ model: unpriced, group: freeGroup }))).toBe('internal_error');
  });
});

describe('a charge', () => {
  const tokens = {
    input: 10,
    cacheRead: 0,
    cacheWrite: 0,
    cacheWrite1h: 0,
    output: 20,
    reasoning: 5,
  };
  const settled = async (used: typeof tokens, source: 'reported' | 'estimated' | 'quarantined') => {
    const { hold, billing, money } = setUp();
    const held = (await hold()) as Hold;
    const charge = billing.charge(held, linesOf(used), source);
    billing.commitHold(held, charge);
    return { charge, meter: money.read('user:usr_1:balance') };
  };

  test('is the cost of what was used, and the rest of the hold is free again', async () => {
    const { charge, meter } = await settled(tokens, 'reported');
    expect(charge).toEqual({
      payer: 'user',
      cost: '3000000',
      held: '50000000',
      overshoot: '0',
      priceVersion: 'v1',
      multiplier: '1',
      receipt: [
        { part: 'input', quantity: 10, rate: '100000000000' },
        { part: 'output', quantity: 20, rate: '100000000000' },
      ],
      window: null,
    });
    expect(meter).toEqual({ spentAmount: 3_000_000n, heldAmount: 0n });
  });

  test('beyond the hold is charged and named', async () => {
    const { charge, meter } = await settled({ ...tokens, output: 990 }, 'reported');
    expect(charge).toMatchObject({ cost: '100000000', overshoot: '50000000' });
    expect(meter).toMatchObject({ spentAmount: 10n * cent });
  });

  test.each(['estimated', 'quarantined'] as const)(
    'of %s numbers is the hold at most',
    async (source) => {
      const { charge } = await settled({ ...tokens, output: 990 }, source);
      expect(charge).toMatchObject({ cost: '50000000', overshoot: '0' });
    },
  );

  test('uses the terms of admission, whatever changed since', async () => {
    const { billing, order } = setUp();
    const own = { ...model };
    const held = (await billing.hold(order({ model: own }))) as Hold;
    Object.assign(own, { price: { input: '900', output: '900' }, priceVersion: 'v2' });
    expect(billing.charge(held, linesOf(tokens), 'reported')).toMatchObject({
      cost: '3000000',
      priceVersion: 'v1',
    });
  });

  test('B-13 of nothing frees the hold at once', async () => {
    const { hold, billing } = setUp();
    const poor = { ...caller, user: { ...user, funding: 2n * cent } };
    const held = (await hold({ caller: poor })) as Hold;
    expect(await nameOf(hold({ caller: poor }))).toBe('insufficient_balance');
    billing.commitHold(held, null);
    expect(await nameOf(hold({ caller: poor }))).toBe('held');
  });
});
