import type { GatewayError } from '#errors/index.ts';

/** One object, plus the id of the request. */
export function encodeError(error: GatewayError, requestId: string): string {
  const { message, param, entry } = error;
  return JSON.stringify({
    error: { code: codeOf(error), message, param: param ?? '', type: entry.type },
    request_id: requestId,
  });
}

function codeOf({ errorName, entry: { status, code } }: GatewayError): string {
  if (code === 'insufficient_quota') return 'QuotaExceeded';
  if (errorName === 'model_not_available' || errorName === 'model_unpriced') return 'ModelNotFound';
  switch (status) {
    case 401:
      return 'AuthenticationError';
    case 403:
      return errorName === 'model_disabled' ? 'ModelNotFound' : 'PermissionDenied';
    case 404:
      return 'InvalidTask';
    case 429:
      return 'RateLimitExceeded';
    case 529:
      return 'ServerOverloaded';
    default:
      return status >= 500 ? 'InternalServiceError' : 'InvalidParameter';
  }
}
