import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ErrorName, GatewayError } from '#errors/index.ts';
import { endAfterDraining, mustClose } from './early-response.ts';
import { ownHeaders } from './respond.ts';
import type { Surfaces } from './surface.ts';

/** Receives every unexpected error for the log; the client learns nothing of it. */
export type UnexpectedErrorListener = (error: unknown, requestId: string) => void;

/** Renders any thrown value as the response to a request, once; does nothing if a response has begun. */
export type ErrorResponder = (
  thrown: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
) => void;

const finalStatuses: ReadonlySet<number> = new Set([400, 401, 402, 403, 404]);

/** A client should not sit and wait for longer than this. Seconds. */
const longestWait = 60;

/** The only place that turns an error into a response. */
export function createErrorResponder(
  surfaces: Surfaces,
  onUnexpectedError: UnexpectedErrorListener,
): ErrorResponder {
  return function respondWithError(thrown, request, reply) {
    const { pendingRateCheck } = request;
    // A path that cannot be decoded has a request without the members that routes receive.
    if (pendingRateCheck instanceof Promise) {
      request.pendingRateCheck = null;
      reply.hijack();
      void pendingRateCheck.then((refusal) => respondWithError(refusal ?? thrown, request, reply));
      return;
    }
    const error = toGatewayError(thrown);
    if (error.errorName === 'internal_error') {
      onUnexpectedError(error.cause ?? error, request.id);
    }
    const response = reply.raw;
    reply.hijack();
    if (response.headersSent || response.destroyed) return;

    const raw = request.raw;
    const shape = surfaces.shapeOf(raw);
    const body = shape.encodeError(error, request.id);
    const headers = ownHeaders(request);
    headers.push('content-type', 'application/json');
    headers.push('content-length', String(Buffer.byteLength(body)));
    addErrorHeaders(headers, error);
    headers.push(...(shape.headersOf?.(error) ?? []));
    // A body that hardly arrives is not worth reading to its end.
    const close = mustClose(raw) || error.errorName === 'body_too_slow';
    if (close || request.server.isDraining()) headers.push('connection', 'close');
    response.writeHead(error.entry.status, headers);
    if (close) endAfterDraining(raw, response, body);
    else response.end(body);
  };
}

/** Maps any thrown value to a catalogue error. */
export function toGatewayError(thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError) return thrown;
  return fromFastifyError(thrown) ?? new GatewayError('internal_error', { cause: thrown });
}

/**
 * The framework's client errors and the gateway's names for them. Errors not listed here are defects of the gateway.
 */
const frameworkErrors: Readonly<Record<string, ErrorName>> = {
  FST_ERR_NOT_FOUND: 'not_found',
  FST_ERR_BAD_URL: 'not_found',
  FST_ERR_MAX_PARAM_LENGTH: 'not_found',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_content_type',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'invalid_body',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'invalid_body',
  FST_ERR_CTP_INVALID_JSON_BODY: 'invalid_body',
  FST_ERR_CTP_BODY_TOO_LARGE: 'body_too_large',
};

/** The catalogue error for one of Fastify's errors, or null. */
export function fromFastifyError(thrown: unknown): GatewayError | null {
  if (!(thrown instanceof Error) || !('code' in thrown) || typeof thrown.code !== 'string') {
    return null;
  }
  const name = Object.hasOwn(frameworkErrors, thrown.code)
    ? frameworkErrors[thrown.code]
    : undefined;
  return name === undefined ? null : new GatewayError(name, { cause: thrown });
}

function addErrorHeaders(headers: string[], error: GatewayError): void {
  const { status, code } = error.entry;
  let retryAfter: number | null = null;
  if (error.retryAfter !== null) {
    retryAfter = Math.max(1, Math.ceil(error.retryAfter));
    headers.push('retry-after', String(retryAfter), 'retry-after-ms', String(retryAfter * 1000));
  }
  const final = finalStatuses.has(status) || code === 'insufficient_quota';
  if (final || (retryAfter !== null && retryAfter > longestWait)) {
    headers.push('x-should-retry', 'false');
  }
  if (status === 401) headers.push('www-authenticate', 'Bearer');
  for (const name in error.headers) headers.push(name, error.headers[name] ?? '');
}
