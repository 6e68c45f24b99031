import type { Loss } from '../canonical/index.ts';
import { lossCodes } from '../conversion/index.ts';
import { GatewayError } from '../errors/index.ts';
import type { AttemptRecord, ExchangeRecord, Outcome } from '../journal/index.ts';
import type { FinishedExchange } from '../observability/index.ts';
import type { ExchangeInput } from './exchange.ts';
import type { ExchangeUsage } from './exchange-usage.ts';
import type { RelayParts } from './parts.ts';

/** What is known of an exchange so far; becomes its usage row. */
export interface ExchangeState {
  readonly input: ExchangeInput;
  model: string;
  /** The catalogue's id of it; null while it is not known, or when the catalogue has none. */
  modelId: string | null;
  stream: boolean;
  upstreamModel: string | null;
  channel: string | null;
  readonly attempts: AttemptRecord[];
  rewrites: readonly string[];
  /** Of converting the request for the channel asked last. */
  losses: readonly Loss[];
  /** Milliseconds from arrival to the first content; null when none came. */
  ttftMs: number | null;
}

export function createExchangeState(input: ExchangeInput): ExchangeState {
  return {
    input,
    model: input.pathModel ?? '',
    modelId: null,
    stream: input.pathStream ?? false,
    upstreamModel: null,
    channel: null,
    attempts: [],
    rewrites: [],
    losses: [],
    ttftMs: null,
  };
}

export interface Ending {
  readonly outcome: Outcome;
  readonly status: number;
  readonly error: GatewayError | null;
  readonly usage: ExchangeUsage;
}

/** The exchange's one row. */
export function recordOf(state: ExchangeState, ending: Ending, durationMs: number): ExchangeRecord {
  const { input } = state;
  const userAgent = input.headers['user-agent'];
  return {
    id: input.id,
    time: input.arrivedAt,
    keyId: input.caller.keyId,
    userId: input.caller.userId,
    teamId: input.caller.teamId,
    group: input.caller.group,
    model: state.model.slice(0, 200),
    upstreamModel: state.upstreamModel,
    channel: state.channel,
    protocol: input.protocol,
    operation: input.operation,
    stream: state.stream,
    outcome: ending.outcome,
    status: ending.status,
    error: ending.error?.errorName ?? null,
    attempts: state.attempts,
    tokens: ending.usage.tokens,
    usageSource: ending.usage.source,
    ttftMs: state.ttftMs === null ? null : Math.round(state.ttftMs),
    durationMs: Math.round(durationMs),
    rewrites: state.rewrites,
    losses: lossCodes(state.losses),
    userAgent: typeof userAgent === 'string' ? userAgent.slice(0, 200) : null,
    charge: null,
  };
}

/** Makes the exchange's row durable. Everything that tells the client of an end waits for this. */
export function settle(parts: RelayParts, state: ExchangeState, ending: Ending): Promise<void> {
  const durationMs = parts.clock.monotonic() - state.input.startedAt;
  const record = recordOf(state, ending, durationMs);
  return parts.journal.append(record).then(
    () => parts.observer.finished(observed(state, record)),
    (error: unknown) => {
      parts.observer.finished(observed(state, withoutRow(record)));
      throw error;
    },
  );
}

/** What became of an exchange whose row is lost: a finished answer is not shown, a failure is told all the same. */
function withoutRow(record: ExchangeRecord): ExchangeRecord {
  if (record.outcome !== 'completed') return record;
  return { ...record, outcome: 'failed', status: 503, error: 'unavailable' };
}

function observed({ input, modelId }: ExchangeState, record: ExchangeRecord): FinishedExchange {
  const { traceparent, tracestate } = input.headers;
  return { record, keyName: input.caller.keyName, modelId, traceparent, tracestate };
}
