import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { RepeatableCall } from '#identity/index.ts';
import { ApiError } from '../errors.ts';

/** The revision in `if-match`. @throws ApiError `invalid` without one */
export function revisionOf({ headers }: FastifyRequest): number {
  const [, digits] = /^"(\d{1,15})"$/.exec(headers['if-match'] ?? '') ?? [];
  if (digits !== undefined) return Number(digits);
  const message = 'expected the revision of the object in double quotes, as in its etag';
  throw new ApiError('invalid', `if-match: ${message}`, {
    fields: [{ path: 'if-match', message }],
  });
}

/** A call with `idempotency-key`; undefined: it has none. @throws ApiError `invalid` */
export function callOf(
  { method, url, headers, body }: FastifyRequest,
  userId: string,
): RepeatableCall | undefined {
  const name = headers['idempotency-key'];
  if (name === undefined) return undefined;
  if (typeof name !== 'string' || !/^[\x21-\x7e]{1,200}$/.test(name)) {
    const message = 'expected 1 to 200 visible characters';
    throw new ApiError('invalid', `idempotency-key: ${message}`, {
      fields: [{ path: 'idempotency-key', message }],
    });
  }
  const asked = JSON.stringify([method, url, body]);
  return { userId, name, contents: createHash('sha256').update(asked).digest('base64url') };
}
