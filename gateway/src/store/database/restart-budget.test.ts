import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createRestartBudget } from './restart-budget.ts';

test('four restarts at once, and the fifth a minute after the first', () => {
  let now = 1_000;
  const budget = createRestartBudget(() => now);
  expect([1, 2, 3, 4].map(() => budget.take())).toEqual([0, 0, 0, 0]);
  now += 10_000;
  expect(budget.take()).toBe(50_000);
  now += 50_000;
  expect(budget.take()).toBe(0);
});

test('never more than four in any minute, and one is possible after the announced pause', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 40_000 })), (gaps) => {
      let now = 0;
      const budget = createRestartBudget(() => now);
      const starts: number[] = [];
      for (const gap of gaps) {
        now += gap;
        const pause = budget.take();
        if (pause > 0) {
          now += pause;
          if (budget.take() !== 0) return false;
        }
        starts.push(now);
      }
      return starts.every((start, index) => start - (starts[index - 4] ?? -Infinity) >= 60_000);
    }),
  );
});
