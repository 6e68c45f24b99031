import type { IncomingHttpHeaders, IncomingMessage, RequestListener } from 'node:http';
import { GatewayError } from '#errors/index.ts';
import { refuseMalformed } from './malformed-request.ts';

/**
 * Refuses HTTP/1.1 without a host, or with several, of which a proxy in front may have used another one (RFC 9112,
 * 3.2). It is treated as malformed HTTP, and pipelined requests after it are not run. With Node's own check they would
 * run, and be billed, although the connection closes before their responses. Renames headers before anybody reads them:
 * a request that the framework refuses itself is answered by its headers too.
 */
export function checkHead(listener: RequestListener): RequestListener {
  return (request, response) => {
    const { socket, rawHeaders, httpVersion } = request;
    if (socket.writableEnded) return;
    const hosts = countHosts(rawHeaders);
    if (hosts > 1 || (hosts === 0 && httpVersion === '1.1')) {
      refuseMalformed(new Error('not one host'), socket);
      return;
    }
    renameAliases(request.headers);
    listener(request, response);
  };
}

function countHosts(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!;
    if (name.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  return count;
}

/** Other names under which clients send a header, by the name that the rest of the gateway reads. */
const aliases: readonly (readonly [alias: string, name: string])[] = [
  ['vendorb-version', 'anthropic-version'],
  ['x-vendord-async', 'x-dashscope-async'],
];

/** Gives every header its one name, in place. What came under that name already goes first, unless it is empty. */
export function renameAliases(headers: IncomingHttpHeaders): void {
  for (const [alias, name] of aliases) {
    const value = headers[alias];
    if (value === undefined) continue;
    if (headers[name] === undefined || headers[name] === '') headers[name] = value;
    delete headers[alias];
  }
}

/**
 * Why a body's transfer coding is refused; undefined if it is not. HTTP/1.0 has none, and a proxy that speaks it may have found
 * another end of the body (RFC 9112, 6.1); other codings than `chunked` are not supported. Requests that Node's parser
 * refuses never get here.
 */
export function transferRefusal({
  headers,
  httpVersion,
}: IncomingMessage): GatewayError | undefined {
  const coding = headers['transfer-encoding'];
  if (coding === undefined) return undefined;
  if (httpVersion === '1.0') {
    const reason = 'HTTP/1.0 has no transfer-encoding';
    return new GatewayError('invalid_value', { values: { reason } });
  }
  return coding.trim().toLowerCase() === 'chunked'
    ? undefined
    : new GatewayError('unsupported_transfer_encoding');
}
