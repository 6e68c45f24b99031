import { addDays, dayOf, monthOf, ownTimeZone, startOfDay, weekOf, type Day } from './days.ts';

/** Time ranges that end now, in milliseconds. */
export const ranges = {
  '1h': 3_600_000,
  '24h': 86_400_000,
  '7d': 7 * 86_400_000,
  '30d': 30 * 86_400_000,
  '90d': 90 * 86_400_000,
} as const;
/** Days of the calendar. Those that begin with `last`, and yesterday, are over. */
export const calendarRanges = [
  'today',
  'yesterday',
  'week',
  'lastWeek',
  'month',
  'lastMonth',
] as const;
type CalendarRange = (typeof calendarRanges)[number];
export type Range = keyof typeof ranges | CalendarRange;

export const defaultRange: Range = '24h';

const isCalendarRange = (value: unknown): value is CalendarRange =>
  calendarRanges.some((name) => name === value);

function readRange(value: unknown): Range {
  if (isCalendarRange(value)) return value;
  return typeof value === 'string' && Object.hasOwn(ranges, value)
    ? (value as Range)
    : defaultRange;
}

/** Its first day, and the one after its last; null: it has not ended. */
function daysOf(range: CalendarRange, today: Day): readonly [Day, Day | null] {
  switch (range) {
    case 'today':
      return [today, null];
    case 'yesterday':
      return [addDays(today, -1), today];
    case 'week':
      return [weekOf(today), null];
    case 'lastWeek':
      return [addDays(weekOf(today), -7), weekOf(today)];
    case 'month':
      return [monthOf(today), null];
    case 'lastMonth':
      return [monthOf(today, -1), monthOf(today)];
  }
}

/** What of the time a page shows: up to now, or between two moments. */
export interface RangeSearch {
  readonly range?: Range;
  /** RFC 3339; chosen in a chart, or of a figure's link. */
  readonly from?: string;
  readonly to?: string;
  /** The zone of days and times; absent: that of the browser. */
  readonly tz?: string;
}

const moment = /^\d{4}-\d\d-\d\dT[\d:.]{5,12}Z$/;

/** A zone that this browser knows. */
export function readZone(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length > 64) return undefined;
  try {
    new Intl.DateTimeFormat('en', { timeZone: value });
    return value;
  } catch {
    return undefined;
  }
}

export function readRangeSearch({ range, from, to, tz }: Record<string, unknown>): RangeSearch {
  const isBetween =
    typeof from === 'string' && typeof to === 'string' && moment.test(from) && moment.test(to);
  const zone = readZone(tz);
  return {
    ...(range !== undefined && readRange(range) !== defaultRange && { range: readRange(range) }),
    ...(isBetween && { from, to }),
    ...(zone !== undefined && { tz: zone }),
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

/**
 * The moments in an address, as the API reads them. A beginning that moves is a whole hour: of parts of hours no sums
 * are kept, and their requests would be read one by one.
 */
export function spanOf(
  { range = defaultRange, from, to, tz = ownTimeZone }: RangeSearch,
  now = Date.now(),
): Pick<Span, 'from' | 'to'> {
  if (from !== undefined && to !== undefined) return { from, to };
  if (!isCalendarRange(range)) {
    const hour = 3_600_000;
    return { from: new Date(Math.floor((now - ranges[range]) / hour) * hour).toISOString() };
  }
  const [first, after] = daysOf(range, dayOf(now, tz));
  const startOf = (day: Day) => new Date(startOfDay(day, tz)).toISOString();
  return { from: startOf(first), ...(after !== null && { to: startOf(after) }) };
}
