import {
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
  type Tracer,
} from '@opentelemetry/api';
import { telemetryOperation, type ProtocolName } from '#canonical/index.ts';
import { findFacts } from '#vendors/index.ts';
import type {
  AttemptFacts,
  ExchangeFacts,
  ExchangeObserver,
  FinishedExchange,
} from '../exchange.ts';
import { parseTraceparent } from './trace-parent.ts';

/** The address that a channel's requests go to. */
export interface ChannelTarget {
  readonly provider: string;
  readonly address: string;
  readonly port: number;
}

/**
 * Writes one span per exchange and one child span per attempt. Spans are written when the exchange is over, with the original
 * times, and nothing is kept for them until then. Names follow the GenAI semantic conventions
 * (https://github.com/open-telemetry/semantic-conventions-genai).
 *
 * @param targetOf gives the target of a channel by name; null if the channel no longer exists
 */
export function createExchangeTracer(
  tracer: Tracer,
  targetOf: (channel: string) => ChannelTarget | null,
): ExchangeObserver['finished'] {
  return function traceExchange(exchange) {
    const { record, modelId } = exchange;
    const end = record.time + record.durationMs;
    const span = tracer.startSpan(
      spanName(record, modelId),
      {
        kind: SpanKind.SERVER,
        startTime: record.time,
        attributes: exchangeAttributes(exchange, targetOf),
      },
      parentOf(exchange),
    );
    if (record.outcome === 'failed') span.setStatus({ code: SpanStatusCode.ERROR });
    const context = trace.setSpan(ROOT_CONTEXT, span);
    for (const attempt of record.attempts) {
      traceAttempt(tracer, context, exchange, attempt, targetOf(attempt.channel));
    }
    span.end(end);
  };
}

function parentOf({ traceparent, tracestate }: FinishedExchange): Context {
  const parent = parseTraceparent(traceparent, tracestate);
  return parent === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent);
}

/** The name in the GenAI conventions; `count_tokens` is ours, as they have none for it. */
function operationOf({ operation, protocol }: ExchangeFacts): string {
  if (operation === 'embed') return 'embeddings';
  if (operation !== 'generate') return operation.replaceAll('-', '_');
  return telemetryOperation[protocol as ProtocolName] ?? 'chat';
}

/** Only catalogue names: tracing systems group by span name. */
function spanName(record: ExchangeFacts, modelId: string | null): string {
  const operation = operationOf(record);
  return modelId === null ? operation : `${operation} ${modelId}`;
}

function exchangeAttributes(
  { record, keyName, teamName }: FinishedExchange,
  targetOf: (channel: string) => ChannelTarget | null,
): Attributes {
  const { tokens, channel, upstreamModel, ttftMs, error } = record;
  const attributes: Attributes = {
    'gen_ai.operation.name': operationOf(record),
    'gen_ai.request.model': record.model,
    'gen_ai.request.stream': record.stream,
    // The conventions count tokens read from and written to a cache as input too.
    'gen_ai.usage.input_tokens':
      tokens.input + tokens.cacheRead + tokens.cacheWrite + tokens.cacheWrite1h,
    'gen_ai.usage.output_tokens': tokens.output,
    'gen_ai.usage.cache_read.input_tokens': tokens.cacheRead,
    'gen_ai.usage.cache_creation.input_tokens': tokens.cacheWrite + tokens.cacheWrite1h,
    'gen_ai.usage.reasoning.output_tokens': tokens.reasoning,
    'http.response.status_code': record.status,
    'sluice.request.id': record.id,
    'sluice.key.id': record.keyId,
    'sluice.key.name': keyName,
    'sluice.protocol': record.protocol,
    'sluice.outcome': record.outcome,
    'sluice.attempts': record.attempts.length,
  };
  if (record.teamId !== null && teamName !== null) {
    attributes['sluice.team.id'] = record.teamId;
    attributes['sluice.team.name'] = teamName;
  }
  if (upstreamModel !== null) attributes['gen_ai.response.model'] = upstreamModel;
  if (record.stream && ttftMs !== null) {
    attributes['gen_ai.response.time_to_first_chunk'] = ttftMs / 1000;
  }
  if (error !== null) attributes['error.type'] = error;
  if (channel !== null) {
    attributes['sluice.channel'] = channel;
    Object.assign(attributes, targetAttributes(targetOf(channel)));
  }
  return attributes;
}

function traceAttempt(
  tracer: Tracer,
  context: Context,
  { record, modelId }: FinishedExchange,
  attempt: AttemptFacts,
  target: ChannelTarget | null,
): void {
  const { channel, result, status, startedAt, durationMs } = attempt;
  const span = tracer.startSpan(
    spanName(record, modelId),
    {
      kind: SpanKind.CLIENT,
      startTime: startedAt,
      attributes: {
        'gen_ai.operation.name': operationOf(record),
        'sluice.channel': channel,
        ...targetAttributes(target),
        ...(status === null ? {} : { 'http.response.status_code': status }),
        ...(result === 'completed' ? {} : { 'error.type': result }),
      },
    },
    context,
  );
  if (result !== 'completed' && result !== 'client-left') {
    span.setStatus({ code: SpanStatusCode.ERROR });
  }
  span.end(startedAt + durationMs);
}

function targetAttributes(target: ChannelTarget | null): Attributes {
  if (target === null) return {};
  return {
    'gen_ai.provider.name': findFacts(target.provider)?.telemetryName ?? target.provider,
    'server.address': target.address,
    'server.port': target.port,
  };
}
