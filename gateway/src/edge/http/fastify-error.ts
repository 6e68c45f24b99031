import { GatewayError, type ErrorName } from '#errors/index.ts';

/**
 * The framework's client errors and the gateway's names for them. Errors not listed here are defects of the gateway.
 */
const names: Readonly<Record<string, ErrorName>> = {
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
  const name = Object.hasOwn(names, thrown.code) ? names[thrown.code] : undefined;
  return name === undefined ? null : new GatewayError(name, { cause: thrown });
}
