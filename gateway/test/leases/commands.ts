import type { Command, LeaseChange, Rules } from '#leases/index.ts';

export const rules: Rules = {
  ageMs: 600_000,
  ticketMs: 500,
  silentMs: 30_000,
  restateMs: 5_000,
  share: 500n,
};

/** One that changes nothing. */
const unchanged: Omit<LeaseChange, 'meter'> = {
  drawn: 0n,
  back: 0n,
  ahead: 0n,
  floor: 0n,
  answered: 0,
  isDropped: false,
  shorts: [],
};

export interface Naming {
  readonly life: string;
  readonly number: number;
  readonly generation: number;
}

/** A command after one that is done, on these meters. */
export function commandOf(
  { life, number, generation }: Naming,
  meters: readonly string[],
  changed: Partial<LeaseChange> = {},
): Command {
  return {
    life,
    number,
    doneNumber: number - 1,
    generation,
    restates: 'no',
    isReplaying: false,
    leases: meters.map((meter) => ({ ...unchanged, meter, ...changed })),
    wants: [],
  };
}

/** One request wants so much of each meter. */
export function drawing(naming: Naming, meters: readonly string[], amount: bigint): Command {
  const wanted = meters.map((name) => ({ name, floor: 0n, limit: 1_000_000n }));
  const id = `${naming.life}-${naming.number}`;
  const want = { id, amount, meters: wanted, isLast: false, isExact: false };
  return { ...commandOf(naming, meters), wants: [want] };
}
