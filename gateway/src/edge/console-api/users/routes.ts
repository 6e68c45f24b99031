import { randomBytes } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import {
  type Administration,
  changeEntry,
  createEntry,
  endSecondFactor,
  inviteUser,
  signOutUser,
  unlinkUser,
  userStore,
} from '#administration/index.ts';
import { kinds } from '#config/index.ts';
import type { OpenDatabase } from '#database/index.ts';
import { originOf } from '#http/index.ts';
import { findUser, listUsers, type StoredUser } from '#identity/index.ts';
import { contract } from '../contract/index.ts';
import type { EntryWriter } from '../entries.ts';
import { ApiError } from '../errors.ts';
import { fromDatabase, type Reads } from '../from-database.ts';
import { type ApiCall, serveRoute, type ServeOptions } from '../serve-route.ts';
import type { OidcSettings } from '../oidc/provider.ts';
import { onlyWayIn } from '../oidc/routes.ts';
import type { Caller } from '../sessions/caller.ts';
import { hashOfToken, invitationAge } from '../sessions/invitation.ts';
import { exactRange } from '../usage/filter.ts';
import { callOf, pageOf, revisionOf } from '../writes.ts';
import { createPeopleDescriber, type DescriptionOptions } from './describe-people.ts';

export interface PeopleOptions extends ServeOptions, DescriptionOptions {
  readonly database: OpenDatabase;
  readonly reads: Reads;
  readonly administration: Administration;
  readonly writerOf: EntryWriter;
  /** Where people sign in without a password; null: nowhere. */
  readonly oidc: OidcSettings | null;
}

type Db = OpenDatabase['kysely'];

const { user: kind } = kinds;

/** People, and what administrators do for them. */
export function userRoutes(scope: FastifyInstance, options: PeopleOptions): void {
  const { writerOf, database, reads, now } = options;
  const viewsOf = createPeopleDescriber(options);

  serveRoute(scope, contract.listUsers, options, async ({ query }) =>
    reads(async (db) => {
      const { limit, ...filter } = pageOf(query);
      const found = await listUsers(db, { ...filter, limit: limit + 1 });
      const users = found.slice(0, limit);
      const next = found.length > limit ? (users.at(-1)?.email ?? null) : null;
      return { body: { data: await viewsOf(db, users, exactRange(query, now())), next } };
    }),
  );

  serveRoute(scope, contract.readUser, options, async ({ parameters, query }) =>
    reads(async (db) => replyOf(db, await knownUser(db, parameters.id), exactRange(query, now()))),
  );

  const write = writerOf<StoredUser>(
    kind,
    async (user) => (await replyOf(database.kysely, user)).body,
  );

  serveRoute(scope, contract.createUser, options, async (call) => {
    const { request, body, caller } = call;
    assertManages(caller, body.role);
    const repeatable = callOf(request, caller);
    const user = await write(call, body.email, (...by) =>
      createEntry(...by, userStore, body, repeatable),
    );
    return fromDatabase(() => replyOf(database.kysely, user));
  });

  serveRoute(scope, contract.changeUser, options, async (call) => {
    const revision = revisionOf(call.request);
    const { id, email } = await managed(call, call.body.role);
    const change = { id, revision, members: call.body };
    const user = await write(call, email, (...by) => changeEntry(...by, userStore, change));
    return fromDatabase(() => replyOf(database.kysely, user));
  });

  serveRoute(scope, contract.inviteUser, options, async (call) => {
    const { id } = await managedOther(call);
    if (options.oidc?.only === true) {
      throw new ApiError('conflict', 'passwords are off, so nobody can set one');
    }
    const token = randomBytes(32).toString('base64url');
    const until = now() + invitationAge;
    const invitation = { id, hash: hashOfToken(token), until };
    await write(call, id, (...by) => inviteUser(...by, invitation));
    const { raw, server } = call.request;
    const link = `${originOf(raw, server.publicUrl)}/console/invite#${token}`;
    return { body: { link, expires_at: new Date(until).toISOString() } };
  });

  serveRoute(scope, contract.signOutUser, options, async (call) => {
    const { id } = await managed(call);
    return { body: { ended: await write(call, id, (...by) => signOutUser(...by, id)) } };
  });

  serveRoute(scope, contract.endSecondFactorOf, options, async (call) => {
    const { id } = await managedOther(call);
    return { body: { ended: await write(call, id, (...by) => endSecondFactor(...by, id)) } };
  });

  serveRoute(scope, contract.unlinkUser, options, async (call) => {
    const { id } = await managedOther(call);
    if (options.oidc?.only === true) throw onlyWayIn();
    return { body: { ended: await write(call, id, (...by) => unlinkUser(...by, id)) } };
  });

  /** Whom a call changes. @param newRole absent: the role stays. @throws ApiError `not_found`, and `forbidden` */
  async function managed(
    { caller, parameters }: Pick<ApiCall<typeof contract.inviteUser>, 'caller' | 'parameters'>,
    newRole?: string | null,
  ): Promise<StoredUser> {
    const user = await fromDatabase(() => knownUser(database.kysely, parameters.id));
    assertManages(caller, user.role, newRole);
    return user;
  }

  /**
   * The same for how somebody signs in. Of the own account that is changed below `/me`, which asks for the password.
   * @throws ApiError as `managed`, and `conflict`
   */
  async function managedOther(call: Parameters<typeof managed>[0]): Promise<StoredUser> {
    const user = await managed(call);
    if (call.caller.session?.user.id !== user.id || user.passwordHash === null) return user;
    throw new ApiError(
      'conflict',
      'how you sign in yourself is changed below /me, with the password',
    );
  }

  async function replyOf(db: Db, user: StoredUser, hours = exactRange({}, now())) {
    const [body] = await viewsOf(db, [user], hours);
    if (body === undefined) throw noSuchUser();
    return { body, revision: user.revision };
  }
}

/**
 * An admin key ends, and is never to become an account that does not: programs manage members only.
 * @throws ApiError `forbidden`
 */
function assertManages({ session }: Caller, ...roles: (string | null | undefined)[]): void {
  if (session !== null || roles.every((role) => role == null || role === 'member')) return;
  const message = 'an admin key manages members only: for other roles a person has to sign in';
  throw new ApiError('forbidden', message);
}

const noSuchUser = () => new ApiError('not_found', 'there is no such user');

/** @param reference an id, or an e-mail address. @throws ApiError `not_found` */
async function knownUser(db: Db, reference: string): Promise<StoredUser> {
  const user = await findUser(db, reference);
  if (user === null) throw noSuchUser();
  return user;
}
