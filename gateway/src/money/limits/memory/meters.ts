import type { HoldDecision, HoldRequest, MeterState } from '../counters.ts';
import { Ended } from './ended.ts';
import { createForgetting } from './forget-idle.ts';

interface Account {
  spent: bigint;
  held: bigint;
  /** Holds nobody has ended yet, void ones too. */
  holds: number;
  /** Holds in force of less than their request may cost: at most one. */
  short: number;
  /** Milliseconds of the monotonic clock. */
  usedAt: number;
}

interface Hold {
  readonly amount: bigint;
  readonly accounts: readonly Account[];
  /** Those of them that had less left than the request may cost. */
  readonly shortOn: readonly Account[];
  /** Where it stands among those that end in the same second. */
  readonly due: Set<string>;
  /** Nothing is held any more, and what was spent may still come. */
  isVoid: boolean;
}

/** Ids that ended are known for so many more: enough for every replay within one process. */
const endedIds = 65_536;
/** Above so many meters, those nobody used for a while are forgotten and asked from the database again. */
export const forgetting = Object.freeze({ mostMeters: 200_000, idleMs: 600_000 });
const second = 1_000;
const nowhere: readonly Account[] = Object.freeze([]);

export interface Meters {
  knows(meter: string): boolean;
  /** Where counting starts from. Nothing happens when the meter is known. */
  preload(meter: string, spent: bigint): void;
  /** Every meter must be known. `remaining`: milliseconds until the hold is void. */
  hold(request: HoldRequest, remaining: number): HoldDecision;
  settle(id: string, meters: readonly string[], spent: bigint): void;
  /** Others have counted what was spent on the meter up to so many milliseconds ago, unless something is held still. */
  forget(meter: string, settledFor: number): void;
  read(meter: string): MeterState | null;
}

export interface MetersOptions {
  /** Milliseconds of a clock that does not step. */
  readonly monotonic: () => number;
  /**
   * By the same clock: what was settled by then is in the database. What is not must not be forgotten, as it would be
   * missing when the meter is asked for again. Absent: everything is.
   */
  readonly appliedUntil?: () => number;
  readonly forgetting?: Readonly<Record<keyof typeof forgetting, number>>;
}

/** Money spent and held in the memory of this process. */
export function createMeters({
  monotonic,
  appliedUntil = monotonic,
  forgetting: { mostMeters, idleMs } = forgetting,
}: MetersOptions): Meters {
  const accounts = new Map<string, Account>();
  const holds = new Map<string, Hold>();
  /** Holds by the second in which they are void, so that no hold needs a timer: exact to a second, never early. */
  const dueBySecond = new Map<number, Set<string>>();
  const ended = new Ended(endedIds);
  let swept = Math.floor(monotonic() / second);
  const forgetIdle = createForgetting(
    accounts,
    ({ holds, usedAt }) =>
      holds === 0 && monotonic() - usedAt >= idleMs && usedAt <= appliedUntil(),
  );

  const makeVoid = (hold: Hold): void => {
    if (hold.isVoid) return;
    hold.isVoid = true;
    for (const account of hold.accounts) account.held -= hold.amount;
    for (const account of hold.shortOn) account.short -= 1;
  };

  const release = (id: string, hold: Hold): void => {
    makeVoid(hold);
    holds.delete(id);
    hold.due.delete(id);
    for (const account of hold.accounts) account.holds -= 1;
  };

  const voidExpired = (): number => {
    const now = monotonic();
    const until = Math.floor(now / second);
    if (dueBySecond.size === 0) swept = Math.max(swept, until);
    for (; swept < until; swept += 1) {
      const due = dueBySecond.get(swept + 1);
      if (due === undefined) continue;
      dueBySecond.delete(swept + 1);
      for (const id of due) makeVoid(holds.get(id)!);
    }
    return now;
  };

  const dueAt = (time: number): Set<string> => {
    const at = Math.max(Math.ceil(time / second), swept + 1);
    let due = dueBySecond.get(at);
    if (due === undefined) dueBySecond.set(at, (due = new Set()));
    return due;
  };

  return {
    knows: (meter) => accounts.has(meter),
    preload(meter, spent) {
      if (accounts.has(meter)) return;
      accounts.set(meter, { spent, held: 0n, holds: 0, short: 0, usedAt: monotonic() });
      if (accounts.size > mostMeters) forgetIdle(4);
    },
    hold({ id, amount, meters }, remaining) {
      const now = voidExpired();
      const before = holds.get(id);
      if (before?.isVoid === false) return { held: true, amount: before.amount };
      if (before !== undefined) release(id, before);
      let least = amount;
      const on: Account[] = [];
      let shortOn = nowhere;
      for (const { name, limit, floor } of meters) {
        const account = accounts.get(name)!;
        const left = limit - account.spent - account.held;
        if (left <= 0n || left < floor) return { held: false, denied: name };
        if (left < amount) {
          if (account.short > 0) return { held: false, denied: name };
          shortOn = [...shortOn, account];
          if (left < least) least = left;
        }
        on.push(account);
      }
      for (const account of shortOn) account.short += 1;
      for (const account of on) {
        account.held += least;
        account.holds += 1;
        account.usedAt = now;
      }
      const due = dueAt(now + remaining);
      due.add(id);
      holds.set(id, { amount: least, accounts: on, shortOn, due, isVoid: false });
      return { held: true, amount: least };
    },
    settle(id, meters, spent) {
      const now = voidExpired();
      if (!ended.add(id)) return;
      const hold = holds.get(id);
      if (hold !== undefined) release(id, hold);
      const charged = hold?.accounts ?? meters.map((meter) => accounts.get(meter));
      for (const account of charged) {
        // One that was never seen is asked from the database when it is first used, with this in it.
        if (account === undefined) continue;
        account.spent += spent;
        account.usedAt = now;
      }
    },
    forget(meter, settledFor) {
      const account = accounts.get(meter);
      if (account?.holds === 0 && monotonic() - account.usedAt >= settledFor)
        accounts.delete(meter);
    },
    read(meter) {
      voidExpired();
      const account = accounts.get(meter);
      return account === undefined ? null : { spent: account.spent, held: account.held };
    },
  };
}
