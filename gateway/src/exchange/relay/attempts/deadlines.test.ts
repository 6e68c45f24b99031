import { expect, test } from 'vitest';
import { clientDeadline, totalDeadline } from './deadlines.ts';

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

test.each([
  [{}, 31_000],
  [{ total: 5_000 }, 6_000],
])('R-22 a channel’s own total time %j comes before everyone’s', (timeouts, expected) => {
  expect(totalDeadline({ startedAt: 1_000 }, { timeouts }, { total: 30_000 })).toBe(expected);
});
