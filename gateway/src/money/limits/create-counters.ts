import type { Config } from '#config/index.ts';
import type { Logger } from '#observability/index.ts';
import type { Counters, SpentSource } from './counters.ts';
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
  readonly log: Pick<Logger, 'info' | 'error'>;
}

/** Counts in Redis if the configuration names one, otherwise in the memory of this process. */
export async function createCounters(options: CreateCountersOptions): Promise<Counters> {
  const { url } = options.config.redis;
  if (url === null) return createMemoryCounters(options);
  // The Redis client is megabytes of code that most gateways never run.
  const { createRedisCounters } = await import('./redis/redis-counters.ts');
  return createRedisCounters({ ...options, url });
}
