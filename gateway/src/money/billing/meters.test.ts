import { expect, test } from 'vitest';
import type { Caller } from '#identity/index.ts';
import type { MeterState } from '#limits/index.ts';
import { hasMoney } from './meters.ts';

const cent = 10_000_000n;
const caller = (funding: bigint, quota: bigint | null = null): Caller =>
  ({
    keyId: 'k',
    userId: 'u',
    teamId: null,
    team: null,
    user: { id: 'u', funding, quota: null },
    memberBudget: null,
    quota,
  }) as unknown as Caller;

const never = { read: () => null };
const spent = (nano: bigint, held = 0n) => ({
  read: (): MeterState => ({ spentAmount: nano, heldAmount: held }),
});

test('money is what is left of every limit, after what is held', () => {
  expect(hasMoney(never, caller(cent), 0)).toBe(true);
  expect(hasMoney(never, caller(cent - 1n), 0)).toBe(false);
  expect(hasMoney(never, caller(0n), 0)).toBe(false);
  expect(hasMoney(spent(cent), caller(2n * cent), 0)).toBe(true);
  expect(hasMoney(spent(cent, 1n), caller(2n * cent), 0)).toBe(false);
  expect(hasMoney(spent(cent), caller(100n * cent, cent), 0)).toBe(false);
  expect(hasMoney(spent(cent), caller(100n * cent, cent + 1n), 0)).toBe(true);
});

test('where the database is asked the response comes later', async () => {
  const remote = (state: MeterState | null) => ({ read: async () => state });
  expect(await hasMoney(remote(null), caller(cent), 0)).toBe(true);
  expect(await hasMoney(remote({ spentAmount: cent, heldAmount: 0n }), caller(cent), 0)).toBe(
    false,
  );
});
