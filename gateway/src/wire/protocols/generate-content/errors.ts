import type { GatewayError } from '#errors/index.ts';
import { frame } from '../shared/text/events.ts';
import { isRecord, type JsonRecord } from '../shared/values.ts';

/** The protocol's status names by HTTP status (https://google.aip.dev/193). It has none for 402. */
const statusNames: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  402: 'FAILED_PRECONDITION',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  405: 'UNIMPLEMENTED',
  408: 'DEADLINE_EXCEEDED',
  413: 'INVALID_ARGUMENT',
  415: 'INVALID_ARGUMENT',
  426: 'FAILED_PRECONDITION',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  501: 'UNIMPLEMENTED',
  502: 'UNAVAILABLE',
  503: 'UNAVAILABLE',
  529: 'UNAVAILABLE',
};

export function encodeError(error: GatewayError): string {
  const { status } = error.entry;
  const delay = delayOf(error);
  const message = delay === null ? error.message : `${error.message}. Please retry in ${delay}s.`;
  return JSON.stringify({
    error: {
      code: status,
      message,
      status: statusNames[status] ?? 'UNKNOWN',
      details: detailsOf(error, delay),
    },
  });
}

/**
 * The frame that ends a broken stream. The vendor's SDKs look for `error` first. Others read a chunk that has none of what
 * they know, take the response for finished, and ask again without a pause; `candidates` of a wrong type tells them.
 */
export function encodeStreamError(error: GatewayError): string {
  return frame(null, `${encodeError(error).slice(0, -1)},"candidates":false}`);
}

/** Seconds that a client should wait. Waiting does not help if a budget is spent. */
function delayOf(error: GatewayError): number | null {
  return error.entry.status === 429 && !isBudget(error) ? error.retryAfter : null;
}

function isBudget(error: GatewayError): boolean {
  return error.entry.status === 429 && error.entry.code === 'insufficient_quota';
}

function detailsOf(error: GatewayError, delay: number | null): object[] {
  if (delay !== null) {
    return [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${delay}s` }];
  }
  if (!isBudget(error)) return [];
  // A quota id with "PerDay" makes the vendor's command line client stop retrying.
  const violation = {
    subject: error.errorName,
    description: error.message,
    quotaId: 'BudgetPerDay',
  };
  return [{ '@type': 'type.googleapis.com/google.rpc.QuotaFailure', violations: [violation] }];
}

/** The error body of this protocol for a failed event. Null: the event was not JSON. */
export function failureBody(event: JsonRecord | null): unknown {
  const error = event?.['error'];
  if (isRecord(error)) return { error };
  const message = typeof error === 'string' ? error : 'malformed event';
  return { error: { code: null, message, status: null } };
}
