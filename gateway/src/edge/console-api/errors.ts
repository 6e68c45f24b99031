import type { GatewayError } from '#errors/index.ts';
import type { Surface } from '#http/index.ts';

/** Of every response of the API, as flat names and values. */
export const apiHeaders = [
  'cache-control',
  'no-store',
  'x-content-type-options',
  'nosniff',
] as const;

/** Every error of the console's API, with its status. */
export const statuses = {
  invalid: 400,
  unauthenticated: 401,
  wrong_credentials: 401,
  second_factor_required: 401,
  wrong_code: 401,
  forbidden: 403,
  csrf: 403,
  not_found: 404,
  method_not_allowed: 405,
  name_taken: 409,
  owned_by_file: 409,
  conflict: 409,
  idempotency_conflict: 409,
  stale: 412,
  too_large: 413,
  too_many: 429,
  internal: 500,
  provider_away: 502,
  database_away: 503,
} as const;
export type ApiErrorCode = keyof typeof statuses;

export interface FieldProblem {
  /** Such as `email`, or `models[2]`. */
  readonly path: string;
  readonly message: string;
}

/** What else an error tells, named as in its body. */
export interface ErrorDetails {
  /** The object as it is now. */
  readonly object?: unknown;
  /** The configuration file, and the place in it. */
  readonly file?: string;
  readonly line?: number;
  readonly path?: string;
}

/** A refusal, in a sentence for the person at the console. */
export class ApiError extends Error {
  readonly code: ApiErrorCode;
  readonly fields: readonly FieldProblem[];
  /** Seconds. */
  readonly retryAfter: number | null;
  readonly details: ErrorDetails;

  constructor(
    code: ApiErrorCode,
    message: string,
    more: {
      readonly fields?: readonly FieldProblem[];
      readonly retryAfter?: number;
      readonly details?: ErrorDetails;
      readonly cause?: unknown;
    } = {},
  ) {
    super(message, { cause: more.cause });
    this.name = 'ApiError';
    this.code = code;
    this.fields = more.fields ?? [];
    this.retryAfter = more.retryAfter ?? null;
    this.details = more.details ?? {};
  }

  get status(): number {
    return statuses[this.code];
  }
}

/** The body of an error as JSON text. */
export function encodeApiError(
  error: Pick<ApiError, 'code' | 'message' | 'fields'> & { readonly details?: ErrorDetails },
  requestId: string,
): string {
  const { code, message, fields, details } = error;
  return JSON.stringify({
    error: {
      code,
      message,
      ...(fields.length > 0 && { fields }),
      ...details,
      request_id: requestId,
    },
  });
}

export const base = '/admin/v1';

/** Errors that do not come from a route of the API, such as those of unknown paths. */
const codes: Readonly<Record<number, ApiErrorCode>> = {
  400: 'invalid',
  404: 'not_found',
  405: 'method_not_allowed',
  413: 'too_large',
  415: 'invalid',
  429: 'too_many',
  503: 'database_away',
};

/** The API behind the console's pages. */
export const consoleSurface: Surface = {
  prefix: '/admin/',
  base: '',
  isExact: true,
  shape: {
    headersOf: () => apiHeaders,
    encodeError({ entry: { status }, message }: GatewayError, requestId) {
      return encodeApiError({ code: codes[status] ?? 'internal', message, fields: [] }, requestId);
    },
  },
};
