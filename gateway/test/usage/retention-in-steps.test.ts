import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { OpenDatabase } from '#database/index.ts';
import { keepUsageFor, removeStateWhenExpired } from '#usage/retention.ts';
import { removeOldUsage } from '#usage/retention.repository.ts';
import { removeExpiredState } from '#usage/upstream-state.repository.ts';

vi.mock('#usage/retention.repository.ts');
vi.mock('#usage/upstream-state.repository.ts');
const removeUsage = vi.mocked(removeOldUsage);
const removeState = vi.mocked(removeExpiredState);

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const minute = 60_000;

test('a clock set forward by two years removes nothing by its new date', async () => {
  removeUsage.mockClear().mockResolvedValue(0);
  removeState.mockClear().mockResolvedValue(0);
  const options = { database: {} as OpenDatabase, onProblem: () => {} };
  const start = Date.now();
  const stops = [
    keepUsageFor({ ...options, keep: 0, mayStart: () => true }),
    removeStateWhenExpired(options),
  ];
  vi.setSystemTime(start + 2 * 365 * 86_400_000);
  await vi.advanceTimersByTimeAsync(10 * minute);
  for (const remove of [removeUsage, removeState]) {
    const dates = remove.mock.calls.map(([, before]) => before);
    expect(dates.length).toBeGreaterThan(5);
    expect(Math.max(...dates)).toBeLessThanOrEqual(start + 11 * minute);
  }
  for (const stop of stops) stop();
});

test('rows that cannot be removed are reported once until removal works again', async () => {
  const told: string[] = [];
  const database = {} as OpenDatabase;
  const onProblem = (message: string): void => void told.push(message);
  removeUsage.mockRejectedValue(new Error('away'));
  removeState.mockResolvedValueOnce(1).mockRejectedValue(new Error('read only'));
  const stops = [
    keepUsageFor({ database, keep: 0, mayStart: () => true, onProblem }),
    removeStateWhenExpired({ database, onProblem }),
  ];

  await vi.advanceTimersByTimeAsync(10 * minute);
  expect(removeUsage.mock.calls.length).toBeGreaterThan(8);
  expect(told).toEqual([
    'usage rows older than retention.usage: away',
    'expired ids of upstream state: read only',
  ]);

  removeUsage.mockResolvedValueOnce(0);
  await vi.advanceTimersByTimeAsync(2 * minute);
  expect(told.slice(2)).toEqual(['usage rows older than retention.usage: away']);
  for (const stop of stops) stop();
});
