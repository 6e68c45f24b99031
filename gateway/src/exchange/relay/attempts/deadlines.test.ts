import { expect, test } from 'vitest';
import { clientDeadline, totalDeadline } from './deadlines.ts';

test.each([
  ['10', 10_750],
  ['0.5', 1_375],
  ['600', 600_750],
  ['0', Number.POSITIVE_INFINITY],
  ['-1', Number.POSITIVE_INFINITY],
  ['1e3', Number.POSITIVE_INFINITY],
  ['', Number.POSITIVE_INFINITY],
  ['soon', Number.POSITIVE_INFINITY],
  ['NOT_GIVEN', Number.POSITIVE_INFINITY],
  [undefined, Number.POSITIVE_INFINITY],
])('R-22 x-stainless-timeout %j of a request at 1000 ms ends at %d', (text, expected) => {
  const deadlineOf = (headers: object) =>
    clientDeadline({ headers: { ...headers }, startedAt: 1_000 });
  expect(deadlineOf({ 'x-stainless-timeout': text })).toBe(expected);
  expect(deadlineOf({ 'x-stainless-read-timeout': text })).toBe(expected);
  const both = { 'x-stainless-timeout': text, 'x-stainless-read-timeout': '2' };
  expect(deadlineOf(both)).toBe(Math.min(expected, 2_750));
});

test.each([
  [{}, 31_000],
  [{ total: 5_000 }, 6_000],
])('R-22 a channel’s own total time %j comes before everyone’s', (timeouts, expected) => {
  expect(totalDeadline({ startedAt: 1_000 }, { timeouts }, { total: 30_000 })).toBe(expected);
});
