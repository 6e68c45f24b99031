import type { GatewayError } from '#errors/index.ts';
import { frame } from '../shared/text/events.ts';
import { isRecord, type JsonRecord } from '../shared/values.ts';

export function encodeError(error: GatewayError, requestId: string): string {
  const { entry, message, details } = error;
  const type = entry.status === 413 ? 'request_too_large' : entry.type;
  return JSON.stringify({
    type: 'error',
    error: { type, message, ...(details !== null && { details }) },
    request_id: requestId,
  });
}

export function encodeStreamError(error: GatewayError, requestId: string): string {
  return frame('error', encodeError(error, requestId));
}

/** The error body of this protocol for a failed event. Null: the event was not JSON. */
export function failureBody(event: JsonRecord | null): unknown {
  const error = event?.['error'] ?? event;
  if (isRecord(error)) return { type: 'error', error };
  const message = typeof error === 'string' ? error : 'malformed event';
  return { type: 'error', error: { type: null, message } };
}
