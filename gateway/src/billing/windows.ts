/**
 * The windows of budgets: days and months by the clock of a time zone. A window is named by its local date, so there
 * is nothing to reset and nothing that could fire late; days of 23 and 25 hours are one window each.
 */

interface Zone {
  readonly format: Intl.DateTimeFormat;
  /** Minutes since 1970 of the last answer. */
  minute: number;
  date: string;
}

const zones = new Map<string, Zone>();

/**
 * The local date, `2026-11-21`, of which the first seven characters name the month, at a time in Unix milliseconds (from 1973 on).
 * @throws RangeError for a time zone that does not exist.
 */
export function dailyWindow(timeZone: string, unixMs: number): string {
  let zone = zones.get(timeZone);
  if (zone === undefined) zones.set(timeZone, (zone = createZone(timeZone)));
  // Every zone has been off UTC by whole minutes since 1972, so a date begins at a whole minute.
  const minute = Math.floor(unixMs / 60_000);
  if (minute !== zone.minute) {
    zone.date = formatDate(zone.format, minute * 60_000);
    zone.minute = minute;
  }
  return zone.date;
}

function createZone(timeZone: string): Zone {
  const format = new Intl.DateTimeFormat('en', {
    timeZone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  });
  return { format, minute: NaN, date: '' };
}

function formatDate(format: Intl.DateTimeFormat, unixMs: number): string {
  const parts = Object.fromEntries(
    format.formatToParts(unixMs).map(({ type, value }) => [type, value]),
  );
  return `${parts['year']}-${parts['month']}-${parts['day']}`;
}
