import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { expiryOf, lookRules, nextLateLook, nextLook, nextTry } from './schedule.ts';

const schedule = { pollInterval: 10_000, expireAfter: 86_400_000 };
const task = { created_at: 1_000_000 };

describe('the next look', () => {
  test('is one interval later, and never after the task has expired', () => {
    expect(nextLook(task, schedule, 2_000_000)).toBe(2_010_000);
    expect(nextLook(task, schedule, expiryOf(task, schedule) - 1)).toBe(87_400_000);
  });

  test.each([
    [1, 10_000],
    [2, 20_000],
    [3, 40_000],
    [7, 600_000],
    [60, 600_000],
    [2_000, 600_000],
  ])('after %i failed looks is %i ms later', (failed, pause) => {
    expect(nextTry(task, schedule, 2_000_000, failed)).toBe(2_000_000 + pause);
  });

  test('is always later than now, and no later than the end of the task', () => {
    const times = fc.integer({ min: 0, max: 90_000_000 });
    fc.assert(
      fc.property(times, fc.integer({ min: 1, max: 3_000 }), (since, failed) => {
        const now = task.created_at + since;
        const expiry = expiryOf(task, schedule);
        for (const due of [nextLook(task, schedule, now), nextTry(task, schedule, now, failed)]) {
          expect(due).toBeGreaterThan(now);
          if (now < expiry) expect(due).toBeLessThanOrEqual(expiry);
        }
      }),
    );
  });

  test('backs off no less than the interval, even if that is long', () => {
    const slow = { ...schedule, pollInterval: 900_000 };
    expect(nextTry(task, slow, 2_000_000, 4)).toBe(2_900_000);
  });
});

test('a task that has expired is looked at twice more: after 10 and 60 minutes', () => {
  expect(lookRules.late).toHaveLength(2);
  expect(nextLateLook(5, 0)).toBe(600_005);
  expect(nextLateLook(5, 1)).toBe(3_600_005);
  expect(nextLateLook(5, 2)).toBeNull();
});
