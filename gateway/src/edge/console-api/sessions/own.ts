import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import {
  type Administration,
  endSession,
  renameUser,
  replacePassword,
} from '#administration/index.ts';
import { isName, kinds } from '#config/index.ts';
import { hashPassword, type OpenDatabase } from '#database/index.ts';
import {
  changePreferences,
  findUserByEmail,
  listSessions,
  type Session,
  type StoredUser,
} from '#identity/index.ts';
import { contract } from '../contract/index.ts';
import { ApiError } from '../errors.ts';
import { fromDatabase, type Reads } from '../from-database.ts';
import type { OidcSettings } from '../oidc/provider.ts';
import { serveRoute, type ServeOptions } from '../serve-route.ts';
import { throwRefusal } from '../writes.ts';
import { connectionOf } from './connection.ts';
import { setSessionCookie } from './cookies.ts';
import type { SignedInCaller } from './caller.ts';
import type { createProofs } from './proof.ts';
import { secondFactorRoutes } from './second-factor.ts';
import type { Slots } from './slots.ts';

export interface OwnSessionOptions extends ServeOptions {
  readonly database: OpenDatabase;
  readonly reads: Reads;
  readonly administration: Administration;
  /** Bounds the work on passwords. */
  readonly hashing: Slots;
  readonly oidc: OidcSettings | null;
  readonly proofs: ReturnType<typeof createProofs>;
  /** @throws ApiError `unauthenticated` */
  readonly start: (request: FastifyRequest, user: StoredUser) => Promise<SignedInCaller>;
  readonly show: (
    request: FastifyRequest,
    caller: SignedInCaller,
  ) => Promise<z.input<typeof contract.readSession.response>>;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/** What people see and change of themselves. */
export function ownSessionRoutes(scope: FastifyInstance, options: OwnSessionOptions): void {
  const { database, reads, administration, hashing, proofs, start, show, now } = options;

  serveRoute(scope, contract.changeMe, options, async ({ request, body, caller }) => {
    const { session } = caller;
    const { name, ...chosen } = body;
    const user = name === undefined ? session.user : await rename(caller, name);
    const changes = Object.entries(chosen).filter(([, value]) => value !== undefined);
    const preferences =
      changes.length === 0
        ? session.preferences
        : await fromDatabase(() =>
            changePreferences(database.kysely, user.id, Object.fromEntries(changes)),
          );
    return { body: await show(request, { ...caller, session: { ...session, user, preferences } }) };
  });

  serveRoute(scope, contract.changePassword, options, async ({ request, body, caller }) => {
    const { user } = caller.session;
    await proofs.assertKnows(request, caller, body.old_password, 'old_password');
    const passwordHash = await hashing.run(() => hashPassword(body.new_password));
    const changedUser = await fromDatabase(async () => {
      await replacePassword(administration, caller.actor, {
        email: user.email,
        passwordHash,
      });
      return findUserByEmail(database.kysely, user.email);
    });
    if (changedUser === null) throw new ApiError('unauthenticated', 'you are not signed in');
    // The one that was used has ended with all others.
    const next = await start(request, changedUser);
    const { isSecure } = connectionOf(request);
    return { body: await show(request, next), cookies: [setSessionCookie(next.secret, isSecure)] };
  });

  serveRoute(scope, contract.listMySessions, options, async ({ caller: { session } }) => {
    const sessions = await reads((db) => listSessions(db, session.user.id, now()));
    return {
      body: {
        data: sessions.map((each) => ({
          id: publicId(each),
          current: each.id === session.id,
          address: each.address,
          user_agent: each.userAgent,
          created: new Date(each.createdAt).toISOString(),
          seen: new Date(each.seenAt).toISOString(),
        })),
      },
    };
  });

  serveRoute(scope, contract.endMySession, options, async ({ parameters, caller }) => {
    const { user } = caller.session;
    const isEnded = await fromDatabase(async () => {
      const sessions = await listSessions(database.kysely, user.id, now());
      const session = sessions.find((each) => publicId(each) === parameters.id);
      return session !== undefined && endSession(administration, caller.actor, session);
    });
    if (!isEnded) throw new ApiError('not_found', 'there is no such session');
    return { body: {} };
  });

  secondFactorRoutes(scope, { ...options, ...proofs });

  /** @throws ApiError `invalid`, and `owned_by_file` */
  async function rename({ actor, session: { user } }: SignedInCaller, newName: string | null) {
    const name = newName === '' ? null : newName;
    if (name !== null && !isName(name)) {
      const message = 'expected up to 200 characters without spaces around them';
      throw new ApiError('invalid', `name: ${message}`, { fields: [{ path: 'name', message }] });
    }
    await fromDatabase(() =>
      renameUser(administration, actor, { email: user.email, name }).catch((error: unknown) =>
        throwRefusal(kinds.user, error),
      ),
    );
    return { ...user, name };
  }
}

/** Enough of the hash to tell a person's sessions apart. */
const publicId = ({ id }: Session) => id.slice(0, 16);
