/*
 * Time zones whose midnight is far from now: no day or month ends while a test runs, whenever it runs. Budgets of teams
 * count by the calendar of their zone.
 */

const hour = new Date().getUTCHours();

/** Of whole hours ahead of UTC. The names of these zones count the other way. */
const zoneOf = (ahead: number): string => `Etc/GMT${ahead > 0 ? '-' : '+'}${Math.abs(ahead)}`;

/** Where it is noon. */
export const noonZone = zoneOf(12 - hour);

/** A day apart, an hour or more from their midnight. */
export const dayApart: readonly [east: string, west: string] =
  hour < 11 ? [zoneOf(12), zoneOf(-12)] : [zoneOf(14), zoneOf(-10)];
