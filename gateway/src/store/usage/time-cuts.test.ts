import { expect, test } from 'vitest';
import { areDaysWhole } from './time-cuts.ts';

const from = Date.parse('2026-03-01T00:00Z');
const to = Date.parse('2026-12-01T00:00Z');

test.each([
  ['UTC', true],
  ['Europe/Berlin', true],
  ['America/Los_Angeles', true],
  ['Asia/Kolkata', false],
  ['Asia/Kathmandu', false],
  ['Australia/Adelaide', false],
  // By half an hour in summer alone.
  ['Australia/Lord_Howe', false],
])('days of %s begin with an hour of UTC: %s', (timeZone, isWhole) => {
  expect(areDaysWhole(from, to, timeZone)).toBe(isWhole);
});
