import { expect, test } from 'vitest';
import { areDaysWhole, splitAtHours } from './time-cuts.ts';

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

test.each([
  ['10:10', '12:20', ['11:00', '12:00'], ['10:10–11:00', '12:00–12:20']],
  ['10:00', '12:00', ['10:00', '12:00'], []],
  ['10:10', '10:20', null, ['10:10–10:20']],
])('%s to %s has the whole hours %j, and beside them %j', (start, end, hours, edges) => {
  const at = (time: string) => Date.parse(`2026-11-24T${time}Z`);
  const text = (time: number) => new Date(time).toISOString().slice(11, 16);
  const split = splitAtHours({ from: at(start), to: at(end) });
  const { from, to } = split.hours;
  expect(from < to ? [text(from), text(to)] : null).toEqual(hours);
  expect(split.edges.map((edge) => `${text(edge.from)}–${text(edge.to)}`)).toEqual(edges);
});
