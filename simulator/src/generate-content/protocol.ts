import { bearerToken, isInvalidCredential } from '../http/credential.ts';
import type { Protocol } from '../http/call.ts';
import { jsonReply } from '../http/reply.ts';
import { Rejection } from '../rejection.ts';

const statuses: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  402: 'FAILED_PRECONDITION',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  409: 'ABORTED',
  429: 'RESOURCE_EXHAUSTED',
  499: 'CANCELLED',
  500: 'INTERNAL',
  501: 'UNIMPLEMENTED',
  502: 'UNAVAILABLE',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
  529: 'UNAVAILABLE',
};

/** Credential and error shape of generate-content: the key header, `?key=`, or a bearer token. */
export const generateContentProtocol: Protocol = {
  authenticate(headers, query) {
    const given = headers['x-goog-api-key'];
    const key =
      (Array.isArray(given) ? given[0] : given) || query.get('key') || bearerToken(headers);
    if (!key) {
      throw new Rejection(
        401,
        'Request is missing required authentication credential. Expected OAuth 2 access token, login cookie or other valid authentication credential.',
      );
    }
    if (isInvalidCredential(key)) {
      // This vendor answers a bad key with 400, not 401.
      const reason = { reason: 'API_KEY_INVALID', domain: 'googleapis.com' };
      throw new Rejection(400, 'API key not valid. Please pass a valid API key.', {
        details: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', ...reason }],
      });
    }
  },
  reject: (rejection) => jsonReply(rejection.status, describeError(rejection)),
  errorEvent: (rejection) => ({ data: JSON.stringify(describeError(rejection)) }),
  isDone: () => false,
};

function describeError({ status, message, detail }: Rejection) {
  return {
    error: {
      code: status,
      message,
      status: statuses[status] ?? (status >= 500 ? 'UNKNOWN' : 'INVALID_ARGUMENT'),
      ...(detail.details && { details: detail.details }),
    },
  };
}

export function invalid(message: string): Rejection {
  return new Rejection(400, message);
}

/** The vendor's form for one field of the request: `* GenerateContentRequest.path: reason`. */
export function invalidField(path: string, reason: string): Rejection {
  return invalid(`* GenerateContentRequest.${path}: ${reason}\n`);
}
