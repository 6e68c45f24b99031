import type { FastifyInstance, FastifyRequest } from 'fastify';
import { recordAudit } from '#administration/index.ts';
import { endSession, findSession, removeEndedSessions, startSession } from '#identity/index.ts';
import { originOf } from '#http/index.ts';
import { contract, permissionsOf } from '../contract/index.ts';
import { ApiError } from '../errors.ts';
import { fromDatabase } from '../from-database.ts';
import { serveRoute, type ServeOptions } from '../serve-route.ts';
import { connectionOf } from './connection.ts';
import { knownCookie, setKnownCookie, setSessionCookie } from './cookies.ts';
import { csrfToken, type SignedInCaller } from './guard.ts';
import { actorOf } from './actor-of.ts';
import { createFailedSignIns } from './failed-sign-ins.ts';
import { createSignIn, type SignInOptions } from './sign-in.ts';

export interface SessionOptions extends ServeOptions, Omit<SignInOptions, 'onFailure'> {
  readonly version: string;
  /** Whether people may sign in although others could read their password on its way. */
  readonly allowInsecure: boolean;
}

/** Signing in and out. */
export function sessionRoutes(scope: FastifyInstance, options: SessionOptions): void {
  const { database, now, version, allowInsecure } = options;
  const failures = createFailedSignIns(options);
  scope.addHook('onClose', () => failures.close());
  const signIn = createSignIn({ ...options, onFailure: failures.count });

  const show = (request: FastifyRequest, { session, secret }: SignedInCaller) => {
    const { isSecure, isLocal } = connectionOf(request);
    const { user } = session;
    return {
      user,
      permissions: [...permissionsOf(user.role)],
      csrf_token: csrfToken(secret),
      insecure: !isSecure && !isLocal,
      gateway: { version, url: originOf(request.raw, request.server.publicUrl) },
    };
  };

  serveRoute(scope, contract.login, options, async ({ request, body }) => {
    const { isSecure, isLocal } = connectionOf(request);
    if (!isSecure && !isLocal && !allowInsecure) {
      const ways =
        'use https (with a proxy: name it in server.trusted_proxies), or set console.insecure_http';
      throw new ApiError('forbidden', `this connection is not encrypted: ${ways}`);
    }
    const address = request.server.clientAddress(request.raw);
    const known = knownCookie(request);
    const { user, known: nextKnown } = await signIn({ ...body, address, known });
    const userAgent = request.headers['user-agent'] ?? null;
    const started = now();
    const caller = await fromDatabase(async () => {
      const actor = actorOf(request, user);
      const secret = await startSession(
        database.kysely,
        {
          user,
          address,
          userAgent,
          beside: (trx) =>
            recordAudit({ trx, now: started }, actor, {
              action: 'create',
              subject: { kind: 'session', name: user.email },
              fields: [],
            }),
        },
        started,
      );
      await removeEndedSessions(database.kysely, started);
      const session = secret === null ? null : await findSession(database.kysely, secret, started);
      return secret === null || session === null ? null : { secret, session, permissions: [] };
    });
    // The person was disabled meanwhile, or has another password or role.
    if (caller === null) throw new ApiError('unauthenticated', 'you are not signed in');
    return {
      body: show(request, caller),
      cookies: [setSessionCookie(caller.secret, isSecure), setKnownCookie(nextKnown, isSecure)],
    };
  });

  serveRoute(scope, contract.readSession, options, async ({ request, caller }) => ({
    body: show(request, caller),
  }));

  serveRoute(scope, contract.logout, options, async ({ request, caller: { session } }) => {
    await fromDatabase(() =>
      endSession(database.kysely, { id: session.id, userId: session.user.id }),
    );
    return { body: {}, cookies: [setSessionCookie(null, connectionOf(request).isSecure)] };
  });
}
