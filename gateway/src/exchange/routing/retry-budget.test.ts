import { expect, test } from 'vitest';
import { RetryBudget } from './retry-budget.ts';

const seen = (answered: number, failed: number): RetryBudget => {
  const budget = new RetryBudget();
  for (let count = 0; count < answered + failed; count += 1) {
    budget.enter(false);
    budget.leave(false, count >= answered);
  }
  return budget;
};

/** How many second tries are let in on top of so many first ones. */
const admitted = (budget: RetryBudget, firstTries: number): number => {
  for (let count = 0; count < firstTries; count += 1) budget.enter(false);
  let retries = 0;
  while (budget.allows && retries < 10_000) {
    budget.enter(true);
    retries += 1;
  }
  return retries;
};

test.each([
  [0, 3],
  [1, 3],
  [15, 3],
  [16, 4],
  [100, 20],
  [1000, 200],
])('R-08: for %i first attempts at a failing upstream %i retries are allowed', (first, retries) => {
  expect(admitted(seen(0, 20), first)).toBe(retries);
});

test('R-09: a healthy channel takes over everything another one drops', () => {
  expect(admitted(new RetryBudget(), 0)).toBe(10_000);
  expect(admitted(seen(50, 3), 0)).toBe(10_000);
  expect(admitted(seen(50, 4), 0)).toBe(3);
});

test('R-08: finished attempts make room again, and responses restore health', () => {
  const budget = seen(0, 20);
  for (let count = 0; count < 3; count += 1) budget.enter(true);
  expect(budget.allows).toBe(false);
  budget.leave(true, null);
  expect(budget.allows).toBe(true);
  budget.enter(true);
  for (let count = 0; count < 19; count += 1) {
    budget.enter(false);
    budget.leave(false, false);
  }
  expect(budget.allows).toBe(false);
  for (let count = 0; count < 20; count += 1) {
    budget.enter(false);
    budget.leave(false, false);
  }
  expect(budget.allows).toBe(true);
});

test('R-08: in steady state, at any failure rate, retries add at most a quarter', () => {
  // Time runs in rounds: ten first tries a round, an attempt takes ten rounds, one that fails is tried again once.
  for (const share of [0.1, 0.19, 0.25, 0.5, 0.9, 1]) {
    const budget = new RetryBudget();
    const rounds: boolean[][] = Array.from({ length: 10 }, () => []);
    let [first, retries, turn] = [0, 0, 0];
    for (let round = 0; round < 2_000; round += 1) {
      const ending = rounds.shift()!;
      rounds.push([]);
      for (const retry of ending) {
        turn += 1;
        const failed = Math.floor(turn * share) > Math.floor((turn - 1) * share);
        budget.leave(retry, failed);
        if (!failed || retry || !budget.allows) continue;
        budget.enter(true);
        rounds.at(-1)!.push(true);
        retries += 1;
      }
      for (let count = 0; count < 10; count += 1) {
        budget.enter(false);
        rounds.at(-1)!.push(false);
        first += 1;
      }
    }
    expect(retries / first).toBeLessThanOrEqual(0.25);
    if (share < 0.2) expect(retries / first).toBeGreaterThan(share * 0.9);
  }
});
