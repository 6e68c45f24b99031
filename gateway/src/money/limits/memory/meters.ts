import type { HoldDecision, HoldRequest, MeterState } from '../money.ts';
import { Ended } from './ended.ts';
import { createForgetting } from './forget-idle.ts';

interface Account {
  spent: bigint;
  held: bigint;
  /** Open holds, including expired ones. */
  holds: number;
  /** Holds in force for less than their request may cost: at most one. */
  short: number;
  /** Milliseconds of the monotonic clock. */
  usedAt: number;
}

interface Hold {
  readonly amount: bigint;
  readonly accounts: readonly Account[];
  /** The accounts among them that had less left than the request may cost. */
  readonly shortOn: readonly Account[];
  /** The set of holds that expire in the same second. */
  readonly due: Set<string>;
  /** Expired: nothing is held any more, but the spending may still arrive. */
  isVoid: boolean;
}

/** The number of remembered ended ids: enough for every replay within one process. */
const endedIds = 65_536;
/** Above this number of meters, idle ones are forgotten and read from the database again. */
export const forgetting = Object.freeze({ mostMeters: 200_000, idleMs: 600_000 });
const second = 1_000;
const nowhere: readonly Account[] = Object.freeze([]);

export interface Meters {
  knows(meter: string): boolean;
  /** Sets the starting point of a meter. Does nothing for a known meter. */
  preload(meter: string, spent: bigint): void;
  /** Every meter must be known. `remaining`: milliseconds until the hold expires. */
  hold(request: HoldRequest, remaining: number): HoldDecision;
  commitHold(id: string, meters: readonly string[], spent: bigint): void;
  read(meter: string): MeterState | null;
}

export interface MetersOptions {
  /** Milliseconds of a monotonic clock. */
  readonly monotonic: () => number;
  /**
   * By the same clock: the database includes everything settled before it. Later spending must not be forgotten,
   * because a new look-up would miss it. Absent: the database includes everything.
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
  /** Holds by the second in which they expire, so that no hold needs a timer: exact to a second, never early. */
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
    commitHold(id, meters, spent) {
      const now = voidExpired();
      if (!ended.add(id)) return;
      const hold = holds.get(id);
      if (hold !== undefined) release(id, hold);
      const charged = hold?.accounts ?? meters.map((meter) => accounts.get(meter));
      for (const account of charged) {
        // An unknown meter is read from the database at its first use, which includes this spending.
        if (account === undefined) continue;
        account.spent += spent;
        account.usedAt = now;
      }
    },
    read(meter) {
      voidExpired();
      const account = accounts.get(meter);
      return account === undefined ? null : { spent: account.spent, held: account.held };
    },
  };
}
