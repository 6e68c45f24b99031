import { bearerToken, isInvalidCredential } from '../http/credential.ts';
import type { Protocol } from '../http/call.ts';
import { jsonReply } from '../http/reply.ts';
import { Rejection } from '../rejection.ts';

/** The credential and the error body of Ark: every message ends with the id of the request. */
export const ark: Protocol = {
  authenticate(headers) {
    const token = bearerToken(headers);
    const detail = { code: 'AuthenticationError', type: 'Unauthorized' };
    if (token === '')
      throw new Rejection(
        401,
        'the API key or AK/SK in the request is missing or invalid.',
        detail,
      );
    if (isInvalidCredential(token))
      throw new Rejection(401, 'The API key format is incorrect.', detail);
  },
  reject: (rejection) => jsonReply(rejection.status, { error: describeError(rejection) }),
  errorEvent: (rejection) => ({ data: JSON.stringify({ error: describeError(rejection) }) }),
  isDone: (event) => event.data === '[DONE]',
};

const kinds: Readonly<Record<number, readonly [code: string, type: string]>> = {
  400: ['InvalidParameter', 'BadRequest'],
  401: ['AuthenticationError', 'Unauthorized'],
  403: ['AccessDenied', 'Forbidden'],
  404: ['InvalidEndpointOrModel.NotFound', 'NotFound'],
  429: ['RateLimitExceeded.EndpointRPMExceeded', 'TooManyRequests'],
  503: ['ServerOverloaded', 'TooManyRequests'],
};

function describeError({ status, message, detail }: Rejection) {
  const [code, type] = kinds[status] ?? ['InternalServiceError', 'InternalServerError'];
  return {
    code: detail.code ?? code,
    message: `${message} Request id: ${requestId}`,
    param: detail.param ?? '',
    type: detail.type ?? type,
  };
}

const requestId = '0217900000000000000000000000000000000000000000000000';

export function invalidParameter(param: string, reason: string): Rejection {
  return new Rejection(
    400,
    `The parameter \`${param}\` specified in the request is not valid: ${reason}.`,
    { param },
  );
}

export function missingParameter(param: string): Rejection {
  return new Rejection(400, `The request is missing the parameter \`${param}\`.`, {
    param,
    code: 'MissingParameter',
  });
}
