import { dailyWindow } from '#ledger/index.ts';

export const timeDimensions = ['hour', 'day', 'month'] as const;
export type TimeDimension = (typeof timeDimensions)[number];

/** A part of a time range. */
export interface Bucket {
  /** `2026-11-21T10:00Z`, `2026-11-21` or `2026-11`. */
  readonly name: string;
  /** Unix milliseconds; within the range whole hours. */
  readonly from: number;
  readonly to: number;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

interface Range {
  readonly from: number;
  readonly to: number;
}

/** The hour in which a moment lies. Unix milliseconds. */
export const startOfHour = (time: number): number => time - (time % hourMs);

/** The whole days in UTC within a range; without one, an empty range at its end. Unix milliseconds. */
export const wholeDays = (range: Range): Range => wholeParts(range, dayMs);

/** The whole hours within a range, and the parts of hours at its ends, of which no sum is kept. Unix milliseconds. */
export function splitAtHours({ from, to }: Range) {
  const hours = wholeParts({ from, to }, hourMs);
  const edges = [
    { from, to: hours.from },
    { from: hours.to, to },
  ];
  return { hours, edges: edges.filter((edge) => edge.from < edge.to) };
}

function wholeParts({ from, to }: Range, length: number): Range {
  const first = Math.min(to, Math.ceil(from / length) * length);
  return { from: first, to: Math.max(first, to - (to % length)) };
}

/**
 * Whether the days of a range begin with whole hours of UTC, and sums of whole hours can be cut there. They do not where the
 * clocks differ from UTC by half hours or quarters, as in Asia/Kolkata.
 */
export function areDaysWhole(from: number, to: number, timeZone: string): boolean {
  return cut('day', from, to, timeZone).every(
    (day, at) => at === 0 || dailyWindow(timeZone, day.from - 1) !== day.name,
  );
}

/**
 * Cuts a range. Days and months are those of a time zone; one that begins within an hour begins with the
 * next hour here, because sums know whole hours only.
 */
export function cut(by: TimeDimension, from: number, to: number, timeZone: string): Bucket[] {
  const buckets: Bucket[] = [];
  let start = from;
  while (start < to) {
    const end = Math.min(
      to,
      by === 'hour' ? startOfHour(start) + hourMs : nextDay(start, timeZone),
    );
    const name =
      by === 'hour'
        ? `${new Date(startOfHour(start)).toISOString().slice(0, 16)}Z`
        : dailyWindow(timeZone, start).slice(0, by === 'day' ? 10 : 7);
    const last = buckets.at(-1);
    if (last !== undefined && last.name === name)
      buckets[buckets.length - 1] = { ...last, to: end };
    else buckets.push({ name, from: start, to: end });
    start = end;
  }
  return buckets;
}

/** The first whole hour of the following date. */
function nextDay(start: number, timeZone: string): number {
  const date = dailyWindow(timeZone, start);
  const usual = startOfHour(start) + dayMs;
  // Usually a day after the beginning of a day.
  if (dailyWindow(timeZone, usual) !== date && dailyWindow(timeZone, usual - hourMs) === date) {
    return usual;
  }
  let hour = startOfHour(start) + hourMs;
  while (dailyWindow(timeZone, hour) === date) hour += hourMs;
  return hour;
}

/** A run of days of 24 hours each. */
export interface Run {
  readonly from: number;
  readonly to: number;
}

/** Days in as few runs as possible: a run ends where a clock is changed. */
export function runsOf(days: readonly Bucket[]): Run[] {
  const runs: Run[] = [];
  for (const { from, to } of days) {
    const last = runs.at(-1);
    const isNext = last !== undefined && (from - last.from) % dayMs === 0;
    if (isNext) runs[runs.length - 1] = { from: last.from, to };
    else runs.push({ from, to });
  }
  return runs;
}
