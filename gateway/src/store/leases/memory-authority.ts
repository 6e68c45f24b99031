import type { Command, Reply } from './command.ts';
import { decide } from './decide.ts';
import type { LeaseRow, LifeRow, MeterRow, Rules } from './rows.ts';

/** Nobody else leases: nobody is waited for, and all that is left may be drawn ahead of need. */
const rules: Rules = { ticketMs: 0, silentMs: 1, ageMs: Infinity, restateMs: 0, share: 1_000n };

/** The authority over money that one process spends alone. Every reply is immediate. */
export interface MemoryAuthority {
  /** Carries out a command of the life. Its meters must have rows. */
  run(command: Command): Reply;
}

/**
 * Keeps the rows in the memory of the only process, and decides by the same function as the database does.
 *
 * It settles nothing: what requests have cost stays in the lease. So `spent` is what was spent before, and a row may be
 * removed, to be read from the database again, once the database has all that was charged since.
 * @param limitOf the limit of a meter for which a command names none, as it was last
 */
export function createMemoryAuthority(
  life: string,
  meters: ReadonlyMap<string, MeterRow>,
  limitOf: (meter: string) => bigint,
): MemoryAuthority {
  const lives = new Map<string, LifeRow>([
    [life, { number: 0, generation: 0, seenAt: 0, closed: false }],
  ]);
  /** All that is leased on a meter is leased by this life. */
  const leaseOn = (meter: string): Map<string, LeaseRow> => {
    const { leased, recall } = meters.get(meter)!;
    return new Map([[life, { drawn: leased, settled: 0n, answered: recall }]]);
  };
  return {
    run(command) {
      const limits = new Map(command.leases.map(({ meter }) => [meter, limitOf(meter)]));
      for (const want of command.wants) {
        for (const { name, limit } of want.meters) limits.set(name, limit);
      }
      const leases = new Map(command.leases.map(({ meter }) => [meter, leaseOn(meter)]));
      const view = { meters, leases, lives, limits, generation: 0, generationAt: 0, now: 0 };
      return decide(view, command, rules);
    },
  };
}
