import type { IncomingMessage } from 'node:http';
import { GatewayError } from '#errors/index.ts';

/**
 * Why a body's transfer coding is refused, or null. HTTP/1.0 has none, and a proxy that speaks it may have found
 * another end of the body (RFC 9112, 6.1); other codings than `chunked` are not supported. Requests that Node's parser
 * refuses never get here.
 */
export function transferRefusal({ headers, httpVersion }: IncomingMessage): GatewayError | null {
  const coding = headers['transfer-encoding'];
  if (coding === undefined) return null;
  if (httpVersion === '1.0') {
    const reason = 'HTTP/1.0 has no transfer-encoding';
    return new GatewayError('invalid_value', { values: { reason } });
  }
  return coding.trim().toLowerCase() === 'chunked'
    ? null
    : new GatewayError('unsupported_transfer_encoding');
}
