import { createHmac, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { OpenDatabase } from '#database/index.ts';
import { findSession } from '#identity/index.ts';
import { ApiError } from '../errors.ts';
import { presentedAdminKey, type ProgramFinder } from './admin-key.ts';
import { type Caller, personCaller } from './caller.ts';
import { connectionOf, proxyOfTls } from './connection.ts';
import { sessionCookie } from './cookies.ts';
import type { LookUp } from '../from-database.ts';

/** Where callers are found. */
export interface CallerSource {
  readonly database: OpenDatabase;
  readonly lookUp: LookUp;
  readonly findProgram: ProgramFinder;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/**
 * Who calls. An admin key counts alone: beside it no cookie does, so that a wrong key never acts as a person. Browsers add
 * cookies by themselves, and never an admin key; so only a session has to prove that a write comes from its own page.
 * @throws ApiError `unauthenticated`, `csrf`, `too_many`, or one of the look-up
 */
export async function callerFor(
  request: FastifyRequest,
  { database, lookUp, findProgram, now }: CallerSource,
): Promise<Caller> {
  const adminKey = presentedAdminKey(request);
  if (adminKey !== null) return findProgram(request, adminKey);
  const secret = sessionCookie(request, connectionOf(request).isSecure);
  const session =
    secret === null ? null : await lookUp(() => findSession(database.kysely, secret, now()));
  if (secret === null || session === null) {
    throw new ApiError('unauthenticated', 'you are not signed in');
  }
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  if (!isRead) assertOwnPage(request, secret);
  return personCaller(request, session, secret);
}

/** A token that only a page of this session knows. Derived, so nothing of it is stored. */
export function csrfToken(secret: string): string {
  return createHmac('sha256', secret).update('csrf').digest('base64url');
}

/** @throws ApiError `csrf` unless the request comes from a page of this session */
function assertOwnPage(request: FastifyRequest, secret: string): void {
  assertOwnOrigin(request);
  const sentToken = Buffer.from(String(request.headers['x-sluice-csrf'] ?? ''));
  const expectedToken = Buffer.from(csrfToken(secret));
  if (sentToken.length !== expectedToken.length || !timingSafeEqual(sentToken, expectedToken)) {
    throw new ApiError('csrf', 'the header x-sluice-csrf is not that of this session');
  }
}

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
