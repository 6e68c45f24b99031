import type { GatewayError } from '#errors/index.ts';
import type { Surface } from '#http/index.ts';
import { apiHeaders, type ApiErrorCode, encodeApiError } from './errors.ts';

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
