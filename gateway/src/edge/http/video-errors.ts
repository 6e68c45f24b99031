import type { ErrorName, GatewayError } from '#errors/index.ts';

/** video-synthesis: the vendor's flat members, plus chat's error object. */
export function encodeSynthesisError(error: GatewayError, requestId: string): string {
  const { message, param, entry } = error;
  const code = synthesisCode(entry.status);
  return JSON.stringify({
    request_id: requestId,
    code,
    message,
    error: { message, type: entry.type, param, code: entry.code },
  });
}

/** video-contents: one object, plus the id of the request. */
export function encodeContentsError(error: GatewayError, requestId: string): string {
  const { message, param, entry } = error;
  const code = contentsCode(error.errorName, entry.status, entry.code);
  return JSON.stringify({
    error: { code, message, param: param ?? '', type: entry.type },
    request_id: requestId,
  });
}

function synthesisCode(status: number): string {
  switch (status) {
    case 401:
      return 'InvalidApiKey';
    case 402:
      return 'Arrearage';
    case 403:
      return 'AccessDenied';
    case 404:
      return 'InvalidTask';
    case 429:
      return 'Throttling';
    default:
      return status >= 500 ? 'InternalError' : 'InvalidParameter';
  }
}

function contentsCode(name: ErrorName, status: number, code: string | null): string {
  if (code === 'insufficient_quota') return 'QuotaExceeded';
  if (name === 'model_not_available' || name === 'model_unpriced') return 'ModelNotFound';
  switch (status) {
    case 401:
      return 'AuthenticationError';
    case 403:
      return name === 'model_disabled' ? 'ModelNotFound' : 'PermissionDenied';
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
