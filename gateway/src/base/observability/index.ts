export type {
  AttemptFacts,
  ExchangeFacts,
  ExchangeKind,
  ExchangeObserver,
  FinishedExchange,
  OpenedExchange,
} from './exchange.ts';
export { createLogger, type Logger, type LogFields } from './logger.ts';
export type { ChannelState, GatewayReadings, ServerReadings } from './metrics/gateway-metrics.ts';
export { createMetrics, renderTogether, type Metrics } from './metrics/metrics.ts';
export type { EndedTask, TaskReadings } from './metrics/task-metrics.ts';
export { createExchangeTracer, type ChannelTarget } from './tracing/exchange-tracer.ts';
export { openTracing, type Tracing } from './tracing/tracing.ts';
export { createRepeatedWork, type RepeatedWork } from './repeated-work.ts';
export { type UncaughtErrors, watchUncaughtErrors } from './uncaught-errors.ts';
