import type { Config } from '#config/index.ts';
import type { Logger } from '#observability/index.ts';
import type { Counters, SpentSource } from './counters.ts';
import { createLeasedMoney, type LeasedMoneyOptions } from './leases/leased-money.ts';
import { createMemoryCounters } from './memory/memory-counters.ts';

export interface CreateCountersOptions {
  readonly config: Pick<Config, 'redis'>;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Milliseconds of a monotonic clock. */
  readonly monotonic: () => number;
  /** From 0 to 1. */
  readonly random: () => number;
  readonly spent: SpentSource;
  /** Milliseconds of the monotonic clock: `spent` includes everything settled before it. */
  readonly appliedUntil: () => number;
  /** Live nodes, including this one. */
  readonly liveNodes: () => number;
  /** Where money is leased from; null: this process counts it alone. */
  readonly leases: Pick<LeasedMoneyOptions, 'authority' | 'newLife'> | null;
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>;
}

/**
 * Counts rates in Redis if the configuration names one, otherwise in the memory of this process. Money is leased from
 * the database if other processes may spend it too.
 */
export async function createCounters(options: CreateCountersOptions): Promise<Counters> {
  const { leases } = options;
  const rates = await createRates(options);
  if (leases === null) return rates;
  const money = createLeasedMoney({ ...options, ...leases });
  return {
    checkRates: (request) => rates.checkRates(request),
    leave: (id) => rates.leave(id),
    hold: money.hold,
    charge: money.charge,
    commitHold: money.commitHold,
    read: money.read,
    get degraded() {
      return rates.degraded;
    },
    async close() {
      await money.close();
      await rates.close();
    },
  };
}

async function createRates(options: CreateCountersOptions): Promise<Counters> {
  const { url } = options.config.redis;
  if (url === null) return createMemoryCounters(options);
  // The Redis client is megabytes of code that most gateways never run.
  const { createRedisCounters } = await import('./redis/redis-counters.ts');
  return createRedisCounters({ ...options, url });
}
