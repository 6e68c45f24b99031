import { expect, test } from 'vitest';
import { retryAfterOf } from './call.ts';

const now = Date.parse('2026-01-01T00:00:00Z');

test.each([
  [{ 'retry-after': '7' }, 7],
  [{ 'retry-after': '0' }, 0],
  [{ 'retry-after': 'Thu, 01 Jan 2026 00:00:30 GMT' }, 30],
  [{ 'retry-after': 'Wed, 31 Dec 2025 00:00:00 GMT' }, 0],
  [{ 'retry-after-ms': '1500', 'retry-after': '9' }, 1.5],
  [{ 'retry-after': '-5' }, null],
  [{ 'retry-after': 'soon' }, null],
  [{ 'retry-after': '' }, null],
  [{ 'retry-after': ['3', '4'] }, 3],
  [{}, null],
])('%j waits %s', (headers, expected) => {
  expect(retryAfterOf(headers, now)).toBe(expected);
});
