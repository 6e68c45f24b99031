import type { Caller, CallerTeam } from '../access/index.ts';
import type { Meter } from '../counting/index.ts';
import { dailyWindow } from './windows.ts';

/** With less than a cent a balance admits nothing; every other limit admits until it is used up. */
const balanceFloor = 10_000_000n;
const anyFloor = 1n;

interface Cached {
  /** The local date of the team's windows; empty where there are none. */
  readonly date: string;
  readonly meters: readonly Meter[];
}

/** Per caller object: a changed key, user or team makes new ones. */
const cache = new WeakMap<Caller, Cached>();

/**
 * Everything a caller's money is limited by, in the order in which the first exhausted limit is named: balance, user
 * quota, key quota, team daily, monthly, total, member. A key that acts for a team spends the team's money, and what
 * its user has of their own does not count.
 *
 * @param now Unix milliseconds; decides the windows of the team's budgets
 */
export function metersOf(caller: Caller, now: number): readonly Meter[] {
  const { team } = caller;
  const hasWindows = team !== null && (team.dailyBudget !== null || team.monthlyBudget !== null);
  const date = hasWindows ? dailyWindow(team.timeZone, now) : '';
  const cached = cache.get(caller);
  if (cached?.date === date) return cached.meters;
  const meters = team === null ? ofUser(caller) : ofTeam(caller, team, date);
  cache.set(caller, { date, meters });
  return meters;
}

function ofUser(caller: Caller): Meter[] {
  const { user } = caller;
  return [
    { name: `user:${user.id}:balance`, limit: user.funding, floor: balanceFloor },
    ...limited(`user:${user.id}:quota`, user.quota),
    ...limited(`key:${caller.keyId}:quota`, caller.quota),
  ];
}

function ofTeam(caller: Caller, team: CallerTeam, date: string): Meter[] {
  const name = `team:${team.id}`;
  return [
    { name: `${name}:balance`, limit: team.funding, floor: balanceFloor },
    ...limited(`key:${caller.keyId}:quota`, caller.quota),
    ...limited(`${name}:daily:${date}`, team.dailyBudget),
    ...limited(`${name}:monthly:${date.slice(0, 7)}`, team.monthlyBudget),
    ...limited(`${name}:total`, team.totalBudget),
    ...limited(`${name}:member:${caller.userId}`, caller.memberBudget),
  ];
}

function limited(name: string, limit: bigint | null): Meter[] {
  return limit === null ? [] : [{ name, limit, floor: anyFloor }];
}
