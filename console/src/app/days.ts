/** A day as `2026-11-24`. */
export type Day = string;

const length = 86_400_000;

/** The zone of this browser. */
export const ownTimeZone = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Milliseconds that the clocks of a zone are ahead of UTC at a moment. */
function aheadOf(zone: string, time: number): number {
  const format = new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'longOffset' });
  const text = format.formatToParts(time).find(({ type }) => type === 'timeZoneName')?.value ?? '';
  const [, sign, hours, minutes] = /([+-])(\d\d):(\d\d)/.exec(text) ?? [];
  const size = (Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * 60_000;
  return sign === '-' ? -size : size;
}

/** Where clocks differ from UTC by half hours, in summer or winter, days begin within an hour, and sums have whole hours. */
export const hasBrokenHours = (zone: string): boolean =>
  [0, 6].some((month) => aheadOf(zone, Date.UTC(2026, month)) % 3_600_000 !== 0);

/** The zone in which days are cut. */
export const zoneOfDays = (zone: string): string => (hasBrokenHours(zone) ? 'UTC' : zone);

/** When a day begins in a zone, in Unix milliseconds. */
export function startOfDay(day: Day, zone: string): number {
  const asUtc = Date.parse(`${day}T00:00Z`);
  // The clocks may change between the two.
  const about = asUtc - aheadOf(zone, asUtc);
  return asUtc - aheadOf(zone, about);
}

/** The day of a moment in a zone. */
export const dayOf = (time: number, zone: string): Day =>
  new Date(time + aheadOf(zone, time)).toISOString().slice(0, 10);

export const addDays = (day: Day, count: number): Day =>
  new Date(Date.parse(`${day}T00:00Z`) + count * length).toISOString().slice(0, 10);

/** The first day of a month. @param by months from it */
export function monthOf(day: Day, by = 0): Day {
  const [year = 0, month = 0] = day.split('-').map(Number);
  return new Date(Date.UTC(year, month - 1 + by)).toISOString().slice(0, 10);
}

/** The Monday of a week. */
export function weekOf(day: Day): Day {
  const weekday = (new Date(`${day}T00:00Z`).getUTCDay() + 6) % 7;
  return addDays(day, -weekday);
}
