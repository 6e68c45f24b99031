export {
  unlimited,
  type ChargedLease,
  type HoldDecision,
  type HoldRequest,
  type Meter,
  type MeterState,
  type Money,
  type SpentSource,
  type TaskEnd,
} from './money.ts';
export type { RateDecision, RateLimit, RateRequest, Rates, RatesServer } from './rates.ts';
export { createMoney, type CreateMoneyOptions } from './create-money.ts';
export { createRates, type CreateRatesOptions } from './create-rates.ts';
export { openSharedValues } from './create-rates.ts';
export { leaseRules } from './leases/lease-rules.ts';
export type { Reserve } from './leases/pace.ts';
export type { Peers } from './leases/shared-reserves.ts';
export { createMemoryMoney } from './memory/memory-money.ts';
export { createMemoryRates } from './memory/memory-rates.ts';
