import type { Caller } from '#identity/index.ts';
import type { Meter, MeterState, Money } from '#limits/index.ts';
import { metersOf } from './meters-of.ts';

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
  const known: (MeterState | null)[] = [];
  for (const state of states) {
    if (state instanceof Promise) return waitForAll(meters, states);
    known.push(state);
  }
  return leavesAll(meters, known);
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
    const left = state === null ? limit : limit - state.spent - state.held;
    return left > 0n && left >= floor;
  });
}
