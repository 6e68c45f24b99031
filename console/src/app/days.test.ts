import { expect, it } from 'vitest';
import { addDays, dayOf, hasBrokenHours, monthOf, startOfDay, weekOf } from './days.ts';
import { spanOf } from './range.ts';

const iso = (time: number) => new Date(time).toISOString();

it.each([
  ['2026-11-24', 'Europe/Berlin', '2026-11-23T23:00:00.000Z'],
  ['2026-07-01', 'Europe/Berlin', '2026-06-30T22:00:00.000Z'],
  // The clocks go forward and back within the day, and at midnight.
  ['2026-03-29', 'Europe/Berlin', '2026-03-28T23:00:00.000Z'],
  ['2026-10-26', 'Europe/Berlin', '2026-10-25T23:00:00.000Z'],
  ['2026-11-01', 'America/New_York', '2026-11-01T04:00:00.000Z'],
  // The clocks go back between this day's midnight and that of UTC.
  ['2026-04-05', 'Australia/Sydney', '2026-04-04T13:00:00.000Z'],
  ['2026-11-24', 'Asia/Shanghai', '2026-11-23T16:00:00.000Z'],
  ['2026-11-24', 'UTC', '2026-11-24T00:00:00.000Z'],
])('%s begins in %s at %s', (day, zone, time) => {
  expect(iso(startOfDay(day, zone))).toBe(time);
  expect(dayOf(Date.parse(time), zone)).toBe(day);
  expect(dayOf(Date.parse(time) - 1, zone)).toBe(addDays(day, -1));
});

it('knows months and weeks', () => {
  expect(monthOf('2026-01-31', -1)).toBe('2025-12-01');
  expect(monthOf('2026-11-30', 1)).toBe('2026-12-01');
  // A Sunday belongs to the week before it.
  expect(weekOf('2026-11-29')).toBe('2026-11-23');
  expect(weekOf('2026-11-30')).toBe('2026-11-30');
});

it.each([
  ['Asia/Kolkata', true],
  // By half an hour in winter alone.
  ['Australia/Lord_Howe', true],
  ['Europe/Berlin', false],
])('knows whether the days of %s begin within an hour', (zone, is) => {
  expect(hasBrokenHours(zone)).toBe(is);
});

it('days of a zone whose clocks differ by half an hour are its own', () => {
  const at = Date.parse('2026-11-24T18:31:00Z');
  expect(spanOf({ range: 'yesterday', tz: 'Asia/Kolkata' }, at)).toEqual({
    from: '2026-11-23T18:30:00.000Z',
    to: '2026-11-24T18:30:00.000Z',
  });
});

const now = Date.parse('2026-11-24T18:04:31Z');
it.each([
  ['today', '2026-11-23T23:00:00.000Z', undefined],
  ['yesterday', '2026-11-22T23:00:00.000Z', '2026-11-23T23:00:00.000Z'],
  ['week', '2026-11-22T23:00:00.000Z', undefined],
  ['month', '2026-10-31T23:00:00.000Z', undefined],
  ['lastMonth', '2026-09-30T22:00:00.000Z', '2026-10-31T23:00:00.000Z'],
  ['24h', '2026-11-23T18:00:00.000Z', undefined],
] as const)('%s begins at %s', (range, from, to) => {
  expect(spanOf({ range, tz: 'Europe/Berlin' }, now)).toEqual({
    from,
    ...(to !== undefined && { to }),
  });
});
