import { createHmac, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { OpenDatabase } from '#database/index.ts';
import { findSession, type Session } from '#identity/index.ts';
import { type Permission, permissionsOf } from '../contract/index.ts';
import { ApiError } from '../errors.ts';
import { connectionOf } from './connection.ts';
import { sessionCookie } from './cookies.ts';
import type { LookUp } from '../from-database.ts';

/** The person behind a request. */
export interface SignedInCaller {
  readonly session: Session;
  readonly secret: string;
  readonly permissions: readonly Permission[];
}

/** Where callers are found. */
export interface CallerSource {
  readonly database: OpenDatabase;
  readonly lookUp: LookUp;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/** @throws ApiError `unauthenticated`, or one of the look-up */
export async function callerFor(
  request: FastifyRequest,
  { database, lookUp, now }: CallerSource,
): Promise<SignedInCaller> {
  const secret = sessionCookie(request, connectionOf(request).isSecure);
  const session =
    secret === null ? null : await lookUp(() => findSession(database.kysely, secret, now()));
  if (secret === null || session === null) {
    throw new ApiError('unauthenticated', 'you are not signed in');
  }
  return { session, secret, permissions: permissionsOf(session.user.role) };
}

/** A token that only a page of this session knows. Derived, so nothing of it is stored. */
export function csrfToken(secret: string): string {
  return createHmac('sha256', secret).update('csrf').digest('base64url');
}

/** @throws ApiError `csrf` unless the request comes from a page of this session */
export function assertOwnPage(request: FastifyRequest, secret: string): void {
  assertOwnOrigin(request);
  const sentToken = Buffer.from(String(request.headers['x-sluice-csrf'] ?? ''));
  const expectedToken = Buffer.from(csrfToken(secret));
  if (sentToken.length !== expectedToken.length || !timingSafeEqual(sentToken, expectedToken)) {
    throw new ApiError('csrf', 'the header x-sluice-csrf is not that of this session');
  }
}

/** What makes the gateway know of TLS that ends before it. */
export const proxyOfTls =
  'name the proxy in server.trusted_proxies, and let it send X-Forwarded-Proto: https';

/** @throws ApiError `csrf` for a request that another site's page has sent, or no page */
export function assertOwnOrigin(request: FastifyRequest): void {
  const { origin, host } = request.headers;
  const { publicUrl } = request.server;
  const { isSecure } = connectionOf(request);
  const isOwn =
    origin !== undefined &&
    (origin === `${isSecure ? 'https' : 'http'}://${host ?? ''}` ||
      (publicUrl !== null && origin === new URL(publicUrl).origin));
  if (isOwn) return;
  // What a proxy that ends TLS does not pass on. The browser names the page whose request it is.
  const way =
    !isSecure && origin === `https://${host ?? ''}`
      ? `that page is https, and this connection is not: ${proxyOfTls}`
      : 'behind a proxy, let it pass on the header Host, or set server.public_url';
  throw new ApiError('csrf', `the request does not come from a page of this gateway; ${way}`);
}
