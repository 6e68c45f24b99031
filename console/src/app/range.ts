import { useMemo } from 'react';

/** Time ranges that end now, in milliseconds. */
export const ranges = {
  '1h': 3_600_000,
  '24h': 86_400_000,
  '7d': 7 * 86_400_000,
  '30d': 30 * 86_400_000,
  '90d': 90 * 86_400_000,
} as const;
export type Range = keyof typeof ranges;

export const defaultRange: Range = '24h';

export function readRange(value: unknown): Range {
  return typeof value === 'string' && Object.hasOwn(ranges, value)
    ? (value as Range)
    : defaultRange;
}

const hour = 3_600_000;

/**
 * The beginning as the API reads it: a whole hour, because sums know whole hours only, so that all pages count the same
 * requests.
 */
export function startOf(range: Range, now = Date.now()): string {
  return new Date(Math.floor((now - ranges[range]) / hour) * hour).toISOString();
}

/** What of the time a page shows: up to now, or between two moments. */
export interface RangeSearch {
  readonly range?: Range;
  /** RFC 3339; chosen in a chart, or of a figure's link. */
  readonly from?: string;
  readonly to?: string;
}

const moment = /^\d{4}-\d\d-\d\dT[\d:.]{5,12}Z$/;

export function readRangeSearch({ range, from, to }: Record<string, unknown>): RangeSearch {
  const isBetween =
    typeof from === 'string' && typeof to === 'string' && moment.test(from) && moment.test(to);
  return {
    ...(range !== undefined && readRange(range) !== defaultRange && { range: readRange(range) }),
    ...(isBetween && { from, to }),
  };
}

/** The span of time in the address. The beginning stays the same until the range changes. */
export interface Span {
  readonly from: string;
  /** Absent: now. */
  readonly to?: string;
  /** Milliseconds. */
  readonly length: number;
  /** Identifies it among queries. */
  readonly name: string;
}

export function useSpan({ range = defaultRange, from, to }: RangeSearch): Span {
  return useMemo(() => {
    if (from !== undefined && to !== undefined) {
      return { from, to, length: Date.parse(to) - Date.parse(from), name: `${from} ${to}` };
    }
    return { from: startOf(range), length: ranges[range], name: range };
  }, [range, from, to]);
}

/** The zone of this browser. */
export const ownTimeZone = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Where clocks differ from UTC by half hours, in summer or winter, days begin within an hour, and sums have whole hours. */
export const hasBrokenHours = [0, 6].some(
  (month) => new Date(new Date().getFullYear(), month).getTimezoneOffset() % 60 !== 0,
);

/** The zone in which days are cut. */
export const timeZone = hasBrokenHours ? 'UTC' : ownTimeZone;
