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
