import type { Caller, CallerTeam } from '#identity/index.ts';
import { unlimited, type Meter, type MeterState, type Money } from '#limits/index.ts';
import { meterNames, windowOf } from '#ledger/index.ts';

/** A balance below a cent admits nothing; every other limit admits until it is used up. */
const balanceFloor = 10_000_000n;
const anyFloor = 1n;

export interface CallerMeters {
  readonly meters: readonly Meter[];
  /** Of these meters. */
  readonly names: readonly string[];
  /** The local date of the team's windows; null if the user pays. */
  readonly window: string | null;
}

/** Per caller object: a changed key, user or team creates new ones. */
const cache = new WeakMap<Caller, CallerMeters>();

/**
 * All meters that a caller's money counts on, in the order in which the first exhausted limit is named: balance, user
 * quota, key quota, team daily, monthly, total, member. A key that acts for a team spends the team's money; its user's
 * own balance and quota do not count. Meters without a limit count too, so that a limit set later knows what was spent.
 *
 * @param now Unix milliseconds; decides the windows of the team's budgets
 */
export function metersOf(caller: Caller, now: number): CallerMeters {
  const { team } = caller;
  const window = team === null ? null : windowOf(team, now);
  const cachedMeters = cache.get(caller);
  if (cachedMeters?.window === window) return cachedMeters;
  const { keyId, userId } = caller;
  const account = team === null ? (`user:${userId}` as const) : (`team:${team.id}` as const);
  const names = meterNames({ account, keyId, userId, window });
  const limits = team === null ? userLimits(caller) : teamLimits(caller, team);
  const meters = names.map((name, index): Meter => {
    const limit = limits[index] ?? unlimited;
    return { name, limit, floor: index === 0 ? balanceFloor : anyFloor };
  });
  const callerMeters = { meters, names, window };
  cache.set(caller, callerMeters);
  return callerMeters;
}

/** In the order of `meterNames`; null: no limit. */
function userLimits({ user, quota }: Caller): readonly (bigint | null)[] {
  return [user.funding, user.quota, quota];
}

function teamLimits({ quota, memberBudget }: Caller, team: CallerTeam): readonly (bigint | null)[] {
  const { funding, dailyBudget, monthlyBudget, totalBudget } = team;
  return [funding, quota, dailyBudget, monthlyBudget, totalBudget, memberBudget];
}

/**
 * Whether a caller could pay for anything now, before its request is known. An unknown meter counts as unspent; the
 * hold finds out.
 *
 * @param now Unix milliseconds
 */
export function hasMoney(
  money: Pick<Money, 'read'>,
  caller: Caller,
  now: number,
): boolean | Promise<boolean> {
  const { meters } = metersOf(caller, now);
  const states = meters.map(({ name }) => money.read(name));
  const knownStates: (MeterState | null)[] = [];
  for (const state of states) {
    if (state instanceof Promise) return waitForAll(meters, states);
    knownStates.push(state);
  }
  return leavesAll(meters, knownStates);
}

async function waitForAll(
  meters: readonly Meter[],
  states: readonly ReturnType<Money['read']>[],
): Promise<boolean> {
  return leavesAll(meters, await Promise.all(states.map(async (state) => state)));
}

function leavesAll(meters: readonly Meter[], states: readonly (MeterState | null)[]): boolean {
  return meters.every(({ limit, floor }, at) => {
    const state = states[at] ?? null;
    const remainder = state === null ? limit : limit - state.spentAmount - state.heldAmount;
    return remainder > 0n && remainder >= floor;
  });
}
