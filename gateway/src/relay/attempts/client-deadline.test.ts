import { expect, test } from 'vitest';
import { clientDeadline } from './client-deadline.ts';

test.each([
  ['10', 11_000],
  ['0.5', 1_500],
  ['600', 601_000],
  ['0', Number.POSITIVE_INFINITY],
  ['-1', Number.POSITIVE_INFINITY],
  ['1e3', Number.POSITIVE_INFINITY],
  ['', Number.POSITIVE_INFINITY],
  ['soon', Number.POSITIVE_INFINITY],
  [undefined, Number.POSITIVE_INFINITY],
])('R-22 x-stainless-timeout %j of a request at 1000 ms ends at %d', (text, expected) => {
  expect(clientDeadline({ headers: { 'x-stainless-timeout': text }, startedAt: 1_000 })).toBe(
    expected,
  );
});
