import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { createRequestId } from './request-id.ts';
import { pathOf, repairTarget, withoutBase } from './surface.ts';

export interface CrossOriginOptions {
  /** Origins whose pages may call the client APIs, such as `https://app.example.com`; `*`: every one. Empty: none. */
  readonly origins: readonly string[];
  /** The base paths of the client APIs, such as `/v1`. All other paths stay closed to other origins. */
  readonly bases: readonly string[];
}

/** What pages may read of a response in addition to its body, type and length. */
const exposedHeaders = [
  'request-id',
  'retry-after',
  'retry-after-ms',
  'x-request-id',
  'x-should-retry',
  'x-sluice-conversion',
  'x-sluice-estimated',
  'x-sluice-hint',
  'x-sluice-rewrites',
].join(', ');

const methods = 'DELETE, GET, HEAD, POST';
/** Seconds; browsers keep it for two hours at most. */
const keptFor = '7200';
const headerNames = /^[\w!#$%&'*+.^`|~, -]{1,4096}$/;

/**
 * Lets pages of other origins call the client APIs (https://fetch.spec.whatwg.org/#http-cors-protocol). They take a key
 * and no cookies, so a page can do no more there than any program that has the key.
 */
export function allowOrigins(
  listener: RequestListener,
  { origins, bases }: CrossOriginOptions,
): RequestListener {
  if (origins.length === 0) return listener;
  const isAny = origins.includes('*');
  const isOpen = ({ url = '' }: IncomingMessage): boolean =>
    withoutBase(pathOf(repairTarget(url, bases)), bases) !== null;

  return (request, response) => {
    const { origin } = request.headers;
    // Only browsers name one.
    if (origin !== undefined && isOpen(request)) {
      if (!isAny) response.setHeader('vary', 'origin');
      if (isAny || origins.includes(origin)) {
        response.setHeader('access-control-allow-origin', isAny ? '*' : origin);
        if (isPreflight(request)) return answerPreflight(request, response);
        response.setHeader('access-control-expose-headers', exposedHeaders);
      }
    }
    listener(request, response);
  };
}

function isPreflight({ method, headers }: IncomingMessage): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;
}

/** A browser asks without a key whether it may send a request, and with which headers: any. */
function answerPreflight({ headers }: IncomingMessage, response: ServerResponse): void {
  const requestedHeaders = headers['access-control-request-headers'];
  if (typeof requestedHeaders === 'string' && headerNames.test(requestedHeaders)) {
    response.setHeader('access-control-allow-headers', requestedHeaders);
  }
  response.setHeader('access-control-allow-methods', methods);
  response.setHeader('access-control-max-age', keptFor);
  response.setHeader('x-request-id', createRequestId());
  response.writeHead(204).end();
}
