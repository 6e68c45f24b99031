export type {
  Counters,
  HoldDecision,
  HoldRequest,
  Meter,
  MeterState,
  RateDecision,
  RateLimit,
  RateRequest,
  SpentSource,
} from './counters.ts';
export { createCounters, type CreateCountersOptions } from './create-counters.ts';
export { createMemoryCounters, type MemoryCounters } from './memory/memory-counters.ts';
export { createRedisCounters } from './redis/redis-counters.ts';
