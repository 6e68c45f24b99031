import type { Config } from '#config/index.ts';
import type { Logger } from '#observability/index.ts';
import type { Counters, SpentSource } from './counters.ts';
import { createMemoryCounters } from './memory/memory-counters.ts';

export interface CreateCountersOptions {
  readonly config: Pick<Config, 'redis'>;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Milliseconds of a clock that does not step. */
  readonly monotonic: () => number;
  /** From 0 to 1. */
  readonly random: () => number;
  readonly spent: SpentSource;
  /** Milliseconds of the monotonic clock: what was settled by then is in what `spent` gives. */
  readonly appliedUntil: () => number;
  /** Nodes that serve now, this one included. */
  readonly liveNodes: () => number;
  readonly log: Pick<Logger, 'info' | 'error'>;
}

/** Counting in Redis when the configuration names one, in the memory of this process otherwise. */
export async function createCounters(options: CreateCountersOptions): Promise<Counters> {
  const { url } = options.config.redis;
  if (url === null) return createMemoryCounters(options);
  // The client for Redis is megabytes of code that most gateways never run.
  const { createRedisCounters } = await import('./redis/redis-counters.ts');
  return createRedisCounters({ ...options, url });
}
