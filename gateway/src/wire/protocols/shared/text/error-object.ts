import type { GatewayError } from '#errors/index.ts';
import { isRecord } from '../values.ts';

/** The error body of chat and responses. All four members are always present. */
export function encodeErrorObject(error: GatewayError): string {
  const { type, code } = error.entry;
  return JSON.stringify({ error: { message: error.message, type, param: error.param, code } });
}

/** The same for an error that ends a stream. */
export function encodeStreamErrorObject(error: GatewayError): string {
  const { type } = error.entry;
  const { message, param } = error;
  return JSON.stringify({ error: { message, type, param, code: streamCodeOf(error) } });
}

/**
 * The code of an error that ends a stream. Agents decide by words whether to repeat a request: they repeat it for
 * `unavailable`, and not for an upstream's error.
 */
export function streamCodeOf({ errorName, entry }: GatewayError): string | null {
  return errorName === 'upstream_abnormal' ? 'upstream_unavailable' : entry.code;
}

/** The same body for a failure inside a stream. `detail` is an error object, a text, or neither. */
export function failureObject(detail: unknown): unknown {
  if (isRecord(detail)) {
    const { message = null, type = null, param = null, code = null } = detail;
    return { error: { ...detail, message, type, param, code } };
  }
  const message = typeof detail === 'string' ? detail : 'malformed event';
  return { error: { message, type: null, param: null, code: null } };
}
