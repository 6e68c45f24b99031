import { closedFor, type RateDecision, type RateLimit, type RateRequest } from '../rates.ts';
import { createForgetting } from './forget-idle.ts';
import { SlidingWindow } from './sliding-window.ts';
import { Slots } from './slots.ts';

/** It is unknown when a concurrent request ends. A second is soon enough to retry, and long enough to avoid a storm. */
export const concurrencyRetryMs = 1_000;

const admission: RateDecision = Object.freeze({ admitted: true });

export interface Admissions {
  checkRates(request: RateRequest): RateDecision;
  /** Counts a request that was admitted elsewhere, without checking the limits. */
  note(request: RateRequest): void;
  /** @returns the concurrency limits on which it held a slot. */
  leave(id: string): readonly string[];
  /** Whether the request holds a slot of any concurrency limit. */
  isUnderWay(id: string): boolean;
  /** Every id with a slot, and the concurrency limits it holds a slot of. */
  slots(): IterableIterator<[id: string, names: readonly string[]]>;
  /** The number of windows in memory. For tests and metrics. */
  readonly size: number;
}

/** Rates and concurrency in the memory of this process. */
export function createAdmissions(monotonic: () => number): Admissions {
  const windows = new Map<string, SlidingWindow>();
  const slots = new Slots();
  const forgetIdle = createForgetting(windows, (window) => window.isIdle(monotonic()));

  const waitFor = ({ name, limit, windowMs }: RateLimit, id: string, now: number): number => {
    if (windowMs === 0) return slots.isFree(name, limit, id) ? 0 : concurrencyRetryMs;
    const window = windows.get(name);
    if (window?.span === windowMs) return window.wait(limit, now);
    return limit > 0 ? 0 : windowMs;
  };

  const count = ({ name, limit, windowMs }: RateLimit, id: string, now: number): void => {
    if (windowMs === 0) {
      slots.take(name, id);
      return;
    }
    let window = windows.get(name);
    if (window?.span !== windowMs) windows.set(name, (window = new SlidingWindow(windowMs)));
    window.add(limit, now);
  };

  const note = ({ id, limits }: RateRequest): void => {
    const now = monotonic();
    for (const limit of limits) count(limit, id, now);
    forgetIdle(limits.length + 1);
  };

  return {
    checkRates(request) {
      const closedDecision = closedFor(request);
      if (closedDecision !== null) return closedDecision;
      const now = monotonic();
      let deniedName: string | null = null;
      let longest = 0;
      for (const limit of request.limits) {
        const wait = waitFor(limit, request.id, now);
        if (wait <= 0) continue;
        deniedName ??= limit.name;
        if (wait > longest) longest = wait;
      }
      if (deniedName !== null) {
        forgetIdle(request.limits.length + 1);
        return { admitted: false, denied: deniedName, retryAfterMs: Math.ceil(longest) };
      }
      note(request);
      return admission;
    },
    note,
    leave: (id) => slots.leave(id),
    isUnderWay: (id) => slots.isUnderWay(id),
    slots: () => slots.entries(),
    get size() {
      return windows.size;
    },
  };
}
