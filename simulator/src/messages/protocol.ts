import { bearerToken, isInvalidCredential } from '../http/credential.ts';
import type { Protocol } from '../http/call.ts';
import { jsonReply } from '../http/reply.ts';
import { Rejection } from '../rejection.ts';

export const requestIdHeader = { 'request-id': 'req_simulator' };

/** Credential and error shape of messages. `x-api-key` wins when both headers are present. */
export const messagesProtocol: Protocol = {
  authenticate(headers) {
    const given = headers['x-api-key'];
    const key = (Array.isArray(given) ? given[0] : given)?.trim() || bearerToken(headers);
    if (key === '') throw new Rejection(401, 'x-api-key header is required');
    if (isInvalidCredential(key)) throw new Rejection(401, 'invalid x-api-key');
  },
  reject: (rejection) => jsonReply(rejection.status, describeError(rejection), requestIdHeader),
  errorEvent: (rejection) => ({
    event: 'error',
    data: JSON.stringify(describeError(rejection)),
  }),
  isDone: () => false,
};

const types: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  409: 'conflict_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};

function describeError({ status, message, detail }: Rejection) {
  const type = types[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error');
  return {
    type: 'error',
    error: { type: detail.type ?? type, message },
    request_id: requestIdHeader['request-id'],
  };
}

/** A 400 whose text starts with the path of the wrong field, as this vendor writes them. */
export function invalid(message: string): Rejection {
  return new Rejection(400, message);
}
