import { LeasedMoney, type LeasedMoneyOptions } from './leases/leased-money.ts';
import { createMemoryMoney, type MemoryMoneyOptions } from './memory/memory-money.ts';
import type { Money } from './money.ts';

export interface CreateMoneyOptions
  extends
    Pick<MemoryMoneyOptions, 'spentSource' | 'heldSource'>,
    Pick<LeasedMoneyOptions, 'appliedUntil' | 'log'> {
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Milliseconds of a monotonic clock. */
  readonly monotonic: () => number;
  /** Where money is leased from; null: this process is the only one, and counts alone. */
  readonly leases: LeaseSource | null;
}

export interface LeaseSource extends Pick<
  LeasedMoneyOptions,
  | 'authority'
  | 'newLife'
  | 'replay'
  | 'onEnded'
  | 'ageMs'
  | 'reserveMs'
  | 'unleasedMost'
  | 'liveNodes'
  | 'peers'
> {
  /** Calls back with the leased parts of each charge that the database will never accept. */
  onRejected(listener: LeasedMoney['reject']): void;
}

/** Counts money in leases of the database if other processes may spend it too, otherwise in memory. */
export function createMoney(options: CreateMoneyOptions): Money {
  const { leases } = options;
  if (leases === null) return createMemoryMoney(options);
  const money = new LeasedMoney({ ...options, ...leases });
  leases.onRejected((parts) => money.reject(parts));
  return money;
}
