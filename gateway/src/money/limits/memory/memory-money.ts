import type { HoldDecision, HoldRequest, Money, SpentSource } from '../money.ts';
import { createSpentLookup } from '../spent-lookup.ts';
import { createMeters, type MetersOptions } from './meters.ts';

export interface MemoryMoneyOptions extends MetersOptions {
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Called once per meter, at its first use. */
  readonly spent: SpentSource;
}

/**
 * Counts the money of the only process. Every result is immediate, except for a hold on an unknown meter, which waits
 * for the source. All durations use the monotonic clock, so a step of the wall clock frees nothing.
 */
export function createMemoryMoney(options: MemoryMoneyOptions): Money {
  const { now } = options;
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
    hold(request) {
      for (const { name } of request.meters) {
        if (!meters.knows(name)) return holdLater(request);
      }
      return holdNow(request);
    },
    charge: () => null,
    commitHold: (id, names, amount) => meters.commitHold(id, names, amount),
    read: (meter) => meters.read(meter),
    close: async () => {},
  };
}
