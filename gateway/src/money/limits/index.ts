export {
  unlimited,
  type ChargedLease,
  type Counters,
  type HoldDecision,
  type HoldRequest,
  type Meter,
  type MeterState,
  type RateDecision,
  type RateLimit,
  type RateRequest,
  type SpentSource,
} from './counters.ts';
export { createCounters, type CreateCountersOptions } from './create-counters.ts';
export { leaseRules } from './leases/leased-money.ts';
export { createMemoryCounters, type MemoryCounters } from './memory/memory-counters.ts';
