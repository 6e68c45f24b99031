import { networkOf } from '#http/index.ts';
import { ApiError } from '../errors.ts';

/** Failures before the first delay, and what a delay is at most, in seconds. */
const freeAttempts = 4;
const longestDelay = 900;
/** Milliseconds after the last failure until a count is reset. */
const memory = 3_600_000;
/** Counts that are kept; the oldest goes first. */
const most = 10_000;

interface Count {
  failures: number;
  /** Unix milliseconds. */
  lastAt: number;
}

/**
 * Slows down guessing: from the fifth failure on, each one doubles the time until the next try. Accounts and addresses
 * are counted apart. A browser that has signed in before has a separate count, so that a person cannot be locked out.
 */
export interface SignInThrottle {
  /** Seconds until a try may be made with these names; 0: now. */
  wait(names: readonly string[], now: number): number;
  failed(names: readonly string[], now: number): void;
  succeeded(names: readonly string[]): void;
}

export function createSignInThrottle(): SignInThrottle {
  /** By name, the one that failed last at the end. */
  const counts = new Map<string, Count>();

  function waitFor(name: string, now: number): number {
    const count = counts.get(name);
    if (count === undefined || count.failures <= freeAttempts || now - count.lastAt > memory)
      return 0;
    const delay = Math.min(2 ** (count.failures - freeAttempts - 1), longestDelay);
    return Math.max(0, Math.ceil((count.lastAt + delay * 1_000 - now) / 1_000));
  }

  return {
    wait: (names, now) => Math.max(0, ...names.map((name) => waitFor(name, now))),
    failed(names, now) {
      for (const name of names) {
        const before = counts.get(name);
        const failures =
          before !== undefined && now - before.lastAt <= memory ? before.failures : 0;
        counts.delete(name);
        counts.set(name, { failures: failures + 1, lastAt: now });
      }
      for (const name of counts.keys()) {
        if (counts.size <= most) break;
        counts.delete(name);
      }
    },
    succeeded(names) {
      for (const name of names) counts.delete(name);
    },
  };
}

/** @throws ApiError `too_many` */
export function assertMayTry(
  throttle: SignInThrottle,
  names: readonly string[],
  now: number,
): void {
  const seconds = throttle.wait(names, now);
  if (seconds === 0) return;
  throw new ApiError('too_many', `too many failed sign-ins, try again in ${seconds} s`, {
    retryAfter: seconds,
  });
}

/** What tries from an address count as; null: it is unknown. */
export const addressName = (address: string | null) =>
  `address ${address === null ? '' : networkOf(address)}`;
