import type { Counters, HoldDecision, HoldRequest, SpentSource } from '../counters.ts';
import { createSpentLookup } from '../spent-lookup.ts';
import { createAdmissions } from './admissions.ts';
import { createMeters, type MetersOptions } from './meters.ts';

export interface MemoryCountersOptions extends MetersOptions {
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Called once per meter, at its first use. */
  readonly spent: SpentSource;
}

export interface MemoryCounters extends Counters {
  /**
   * Sets the starting point of a meter, so that its first hold does not query the source. A known meter stays as it is.
   */
  preload(meter: string, spent: bigint): void;
}

/**
 * Counts for one node. Every result is immediate, except for a hold on an unknown meter, which waits for the source.
 * All durations use the monotonic clock, so a step of the wall clock grants or takes nothing.
 */
export function createMemoryCounters(options: MemoryCountersOptions): MemoryCounters {
  const { now } = options;
  const admissions = createAdmissions(options.monotonic);
  const meters = createMeters(options);
  const lookUp = createSpentLookup(options.spent);

  const holdNow = (request: HoldRequest): HoldDecision =>
    meters.hold(request, request.expiresAt - now());

  const holdLater = async (request: HoldRequest): Promise<HoldDecision> => {
    const unknown = request.meters.map(({ name }) => name).filter((name) => !meters.knows(name));
    if (unknown.length === 0) return holdNow(request);
    for (const [name, amount] of await lookUp(unknown)) meters.preload(name, amount);
    return holdLater(request);
  };

  return {
    checkRates: (request) => admissions.checkRates(request),
    leave(id) {
      admissions.leave(id);
    },
    hold(request) {
      for (const { name } of request.meters) {
        if (!meters.knows(name)) return holdLater(request);
      }
      return holdNow(request);
    },
    charge: () => null,
    commitHold: (id, names, amount) => meters.commitHold(id, names, amount),
    read: (meter) => meters.read(meter),
    preload: (meter, amount) => meters.preload(meter, amount),
    degraded: false,
    close: async () => {},
  };
}
