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

/** The beginning as the API reads it, cut to the minute so that a page that is drawn again asks the same. */
export function startOf(range: Range, now = Date.now()): string {
  const minute = 60_000;
  return new Date(Math.floor((now - ranges[range]) / minute) * minute).toISOString();
}
