import { createLeasedMoney, type LeasedMoneyOptions } from './leases/leased-money.ts';
import { createMemoryMoney, type MemoryMoneyOptions } from './memory/memory-money.ts';
import type { Money } from './money.ts';

export interface CreateMoneyOptions
  extends Pick<MemoryMoneyOptions, 'spent' | 'appliedUntil'>, Pick<LeasedMoneyOptions, 'log'> {
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Milliseconds of a monotonic clock. */
  readonly monotonic: () => number;
  /** Where money is leased from; null: this process is the only one, and counts alone. */
  readonly leases: Pick<LeasedMoneyOptions, 'authority' | 'newLife'> | null;
}

/** Counts money in leases of the database if other processes may spend it too, otherwise in memory. */
export function createMoney(options: CreateMoneyOptions): Money {
  const { leases } = options;
  if (leases === null) return createMemoryMoney(options);
  return createLeasedMoney({ ...options, ...leases });
}
