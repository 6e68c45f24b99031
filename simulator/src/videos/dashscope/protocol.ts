import type { Protocol } from '../../http/call.ts';
import { bearerToken, isInvalidCredential } from '../../http/credential.ts';
import { jsonReply } from '../../http/reply.ts';
import { Rejection } from '../../rejection.ts';

export const requestId = '5f2c6b1e-0d1a-9c3b-8e44-0b7d2f6a9c11';

/** The credential and the flat error body of Model Studio. */
export const dashscope: Protocol = {
  authenticate(headers) {
    const token = bearerToken(headers);
    const detail = { code: 'InvalidApiKey' };
    if (token === '') throw new Rejection(401, 'No API-key provided.', detail);
    if (isInvalidCredential(token)) throw new Rejection(401, 'Invalid API-key provided.', detail);
  },
  reject: (rejection) => jsonReply(rejection.status, describeError(rejection)),
  errorEvent: (rejection) => ({ data: JSON.stringify(describeError(rejection)) }),
  isDone: () => false,
};

const codes: Readonly<Record<number, string>> = {
  400: 'InvalidParameter',
  401: 'InvalidApiKey',
  403: 'AccessDenied',
  404: 'ModelNotFound',
  429: 'Throttling.RateQuota',
  503: 'ModelUnavailable',
};

function describeError({ status, message, detail }: Rejection) {
  return {
    request_id: requestId,
    code: detail.code ?? codes[status] ?? 'InternalError',
    message,
  };
}

export function invalidParameter(message: string): Rejection {
  return new Rejection(400, message, { code: 'InvalidParameter' });
}
