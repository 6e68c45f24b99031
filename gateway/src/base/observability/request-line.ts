import type { ExchangeFacts, FinishedExchange } from './exchange.ts';

/** One line of the log per finished exchange, without its level and time. Numbers in milliseconds and tokens. */
export interface RequestLine {
  readonly requestId: string;
  readonly keyId: string;
  readonly keyName: string;
  /** The family of clients. */
  readonly client: string;
  /** As the client wrote it. */
  readonly model: string;
  readonly channel: string | null;
  readonly protocol: string;
  readonly operation: string;
  readonly stream: boolean;
  readonly status: number;
  readonly outcome: string;
  readonly error: string | null;
  readonly attempts: number;
  /** As the client reports it: each try is a request of its own. */
  readonly retryCount: number;
  /** Identical for tries of the same request, as far as known. */
  readonly bodyDigest: string | null;
  readonly ttftMs: number | null;
  readonly durationMs: number;
  readonly tokens: ExchangeFacts['tokens'];
}

/** The allow-list: only these members are logged. */
export function requestLineOf(exchange: FinishedExchange): RequestLine {
  const { record, keyName, client, retryCount, bodyDigest } = exchange;
  const { input, cacheRead, cacheWrite, cacheWrite1h, output, reasoning } = record.tokens;
  return {
    requestId: record.id,
    keyId: record.keyId,
    keyName,
    client,
    model: record.model,
    channel: record.channel,
    protocol: record.protocol,
    operation: record.operation,
    stream: record.stream,
    status: record.status,
    outcome: record.outcome,
    error: record.error,
    attempts: record.attempts.length,
    retryCount,
    bodyDigest,
    ttftMs: record.ttftMs,
    durationMs: record.durationMs,
    tokens: { input, cacheRead, cacheWrite, cacheWrite1h, output, reasoning },
  };
}
