import { afterEach, expect, test, vi } from 'vitest';
import { createRequestId } from './request-id.ts';

afterEach(() => void vi.useRealTimers());

test('ids have the documented form and do not repeat', () => {
  const ids = Array.from({ length: 10_000 }, createRequestId);
  expect(new Set(ids).size).toBe(ids.length);
  for (const id of ids) expect(id).toMatch(/^req_[\w-]{24}$/);
});

test('ids of later milliseconds sort after earlier ones, character by character', () => {
  vi.useFakeTimers();
  const times = [0, 1, 63, 64, 4095, 4096, 1e12, 1.9e12, 1.9e12 + 1, 2 ** 47];
  const ids = times.map((time) => {
    vi.setSystemTime(time);
    return createRequestId();
  });
  const inCodeUnitOrder = [...ids].toSorted((a, b) => (a < b ? -1 : 1));
  expect(inCodeUnitOrder).toEqual(ids);
});
