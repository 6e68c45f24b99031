import type { Config } from '#config/index.ts';
import type { Logger } from '#observability/index.ts';
import { createMemoryRates } from './memory/memory-rates.ts';
import type { Rates } from './rates.ts';
import type { SharedValues } from './redis/shared-values.ts';

export interface CreateRatesOptions {
  readonly config: Pick<Config, 'redis'>;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Milliseconds of a monotonic clock. */
  readonly monotonic: () => number;
  /** From 0 to 1. */
  readonly random: () => number;
  /** Live nodes, including this one. */
  readonly liveNodes: () => number;
  readonly log: Pick<Logger, 'info' | 'error'>;
}

/** Counts rates in Redis if the configuration names one, otherwise in the memory of this process. */
export async function createRates(options: CreateRatesOptions): Promise<Rates> {
  const { url } = options.config.redis;
  if (url === null) return createMemoryRates(options);
  // The Redis client is megabytes of code that most gateways never run.
  const { createRedisRates } = await import('./redis/redis-rates.ts');
  return createRedisRates({ ...options, url });
}

/**
 * Values that every process may read, in Redis.
 * @param now milliseconds of a monotonic clock
 */
export async function openSharedValues(url: string, now: () => number): Promise<SharedValues> {
  // The Redis client is megabytes of code that most gateways never run.
  const { connectSharedValues } = await import('./redis/shared-values.ts');
  return connectSharedValues(url, now);
}
