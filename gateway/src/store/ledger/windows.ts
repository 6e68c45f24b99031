/**
 * The windows of budgets: days and months by the clock of a time zone. A window is named by its local date, so nothing
 * has to be reset and nothing can fire late; days of 23 and 25 hours are one window each.
 */

interface Zone {
  readonly format: Intl.DateTimeFormat;
  /** Minutes since 1970 of the last result. */
  minute: number;
  date: string;
}

const zones = new Map<string, Zone>();

/**
 * The local date at a time in Unix milliseconds (1973 or later): `2026-11-21`, whose first seven characters name the
 * month.
 * @throws RangeError if the time zone does not exist.
 */
export function dailyWindow(timeZone: string, unixMs: number): string {
  let zone = zones.get(timeZone);
  if (zone === undefined) zones.set(timeZone, (zone = createZone(timeZone)));
  // Since 1972 every zone's offset from UTC is in whole minutes, so a date begins at a whole minute.
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

/** The clock that a team's windows follow. */
export interface WindowClock {
  readonly timeZone: string;
  /**
   * The window that was open when the time zone last changed, and the zone in which it ends; null: the zone never
   * changed.
   */
  readonly openWindow: { readonly date: string; readonly timeZone: string } | null;
}

/**
 * The window of a team's budgets at a time in Unix milliseconds. A changed time zone applies from the next window on:
 * the open window ends by its own clock, and no window is opened again. So no budget is spent twice or becomes
 * available early.
 */
export function windowOf({ timeZone, openWindow }: WindowClock, unixMs: number): string {
  const date = dailyWindow(timeZone, unixMs);
  if (openWindow === null) return date;
  return isOpen(openWindow, unixMs) || date < openWindow.date ? openWindow.date : date;
}

/** A window of a budget. Unix milliseconds; `to` is the first moment of the next one. */
export interface WindowSpan {
  /** Its name, such as `2026-11-21` or `2026-11`. */
  readonly name: string;
  readonly from: number;
  readonly to: number;
}

/** The day and the month of a team's budgets at a time in Unix milliseconds. */
export function spansOf(
  clock: WindowClock,
  unixMs: number,
): { readonly daily: WindowSpan; readonly monthly: WindowSpan } {
  const date = windowOf(clock, unixMs);
  const { openWindow } = clock;
  const began =
    openWindow !== null && isOpen(openWindow, unixMs) ? openWindow.timeZone : clock.timeZone;
  const span = (length: 7 | 10): WindowSpan => {
    const name = date.slice(0, length);
    // Longer than any month, also where a change of the zone makes one longer.
    const reach = (length === 7 ? 34 : 4) * dayMs;
    return {
      name,
      from: firstMinute(
        unixMs - reach,
        unixMs,
        (time) => dailyWindow(began, time).slice(0, length) >= name,
      ),
      to: firstMinute(
        unixMs,
        unixMs + reach,
        (time) => windowOf(clock, time).slice(0, length) > name,
      ),
    };
  };
  return { daily: span(10), monthly: span(7) };
}

const minuteMs = 60_000;
const dayMs = 86_400_000;

/** The first minute of which something is true that stays true: windows begin at whole minutes. */
function firstMinute(from: number, to: number, isTrue: (unixMs: number) => boolean): number {
  let [low, high] = [Math.floor(from / minuteMs), Math.ceil(to / minuteMs)];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (isTrue(middle * minuteMs)) high = middle;
    else low = middle + 1;
  }
  return high * minuteMs;
}

/** The clock after a change of the time zone. */
export function changeZone(clock: WindowClock, timeZone: string, unixMs: number): WindowClock {
  if (timeZone === clock.timeZone) return clock;
  const { openWindow } = clock;
  const endsIn =
    openWindow !== null && isOpen(openWindow, unixMs) ? openWindow.timeZone : clock.timeZone;
  return { timeZone, openWindow: { date: windowOf(clock, unixMs), timeZone: endsIn } };
}

function isOpen(
  { date, timeZone }: NonNullable<WindowClock['openWindow']>,
  unixMs: number,
): boolean {
  return dailyWindow(timeZone, unixMs) <= date;
}
