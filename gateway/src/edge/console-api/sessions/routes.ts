import type { FastifyInstance, FastifyRequest } from 'fastify';
import {
  type Administration,
  checkSecondFactor,
  endSession,
  recordAudit,
} from '#administration/index.ts';
import { listGroups } from '#catalogue/index.ts';
import {
  findSecondFactor,
  findSession,
  groupsOfUser,
  listAdministrators,
  membershipsOf,
  removeEndedSessions,
  startSession,
  type StoredUser,
} from '#identity/index.ts';
import { originOf } from '#http/index.ts';
import type { Logger } from '#observability/index.ts';
import { contract, type Permission, permissionsOf } from '../contract/index.ts';
import { ApiError } from '../errors.ts';
import { fromDatabase, type Reads } from '../from-database.ts';
import { mayPlay, type ConsoleMembers } from '../contract/permissions.ts';
import { nameOf, oidcRoutes } from '../oidc/routes.ts';
import type { OidcSettings } from '../oidc/provider.ts';
import { serveRoute, type ServeOptions } from '../serve-route.ts';
import { actorOf, personCaller, type SignedInCaller } from './caller.ts';
import { assertPrivate, connectionOf, type Privacy } from './connection.ts';
import { knownCookie, setKnownCookie, setSessionCookie } from './cookies.ts';
import { csrfToken } from './guard.ts';
import { createFailedSignIns } from './failed-sign-ins.ts';
import { createAcceptance } from './invitation.ts';
import { ownSessionRoutes } from './own.ts';
import { createProofs } from './proof.ts';
import { createSignIn, type SignInOptions } from './sign-in.ts';
import { createSlots } from './slots.ts';

export interface SessionOptions
  extends ServeOptions, Omit<SignInOptions, 'onFailure' | 'hashing' | 'checkFactor'>, Privacy {
  readonly administration: Administration;
  readonly reads: Reads;
  readonly version: string;
  readonly members: ConsoleMembers;
  /** Where people sign in without a password; null: nowhere. */
  readonly oidc: OidcSettings | null;
  readonly log: Pick<Logger, 'warn'>;
}

/** Each hash takes 0.3 s of a core and 128 MiB. */
const hashesAtOnce = 2;
const hashesWaiting = 20;

/** Signing in and out, and what people change about themselves. */
export function sessionRoutes(scope: FastifyInstance, options: SessionOptions): void {
  const { administration, database, lookUp, now, version, members, oidc } = options;
  const failures = createFailedSignIns({ ...options, kind: 'session' });
  scope.addHook('onClose', () => failures.close());
  const hashing = createSlots(hashesAtOnce, hashesWaiting);
  const guarded = {
    ...options,
    hashing,
    onFailure: failures.count,
    async checkFactor(user: StoredUser, code: string | undefined, address: string | null) {
      const { id, email } = user;
      if (code === undefined) {
        const factor = await lookUp(() => findSecondFactor(database.kysely, id));
        return factor === null || factor.confirmedAt === null ? null : false;
      }
      const actor = { kind: 'user', id, email, address } as const;
      return fromDatabase(() => checkSecondFactor(administration, actor, user, code));
    },
  };
  const signIn = createSignIn(guarded);
  const accept = createAcceptance({ ...guarded, administration });

  const show = async (request: FastifyRequest, { session, secret }: SignedInCaller) => {
    const { isSecure, isLocal } = connectionOf(request);
    const { user, preferences } = session;
    const permissions = permissionsOf(user.role);
    const grantedPermissions = await fromDatabase(() => grantedTo(user.id, permissions));
    return {
      user: { ...user, editable: !user.isOfFile },
      preferences,
      welcome: user.isFirst && preferences.welcomed !== true,
      permissions: [...permissions],
      playground: mayPlay(members, permissions),
      ...grantedPermissions,
      csrf_token: csrfToken(secret),
      insecure: !isSecure && !isLocal,
      gateway: { version, url: originOf(request.raw, request.server.publicUrl) },
    };
  };

  /** The teams of a person, and the groups that the person may give keys. */
  async function grantedTo(userId: string, permissions: readonly Permission[]) {
    const { kysely } = database;
    const teams = await membershipsOf(kysely, userId);
    if (!permissions.includes('keys.write')) {
      return {
        teams: teams.map((team) => ({ ...team, groups: [...team.groups] })),
        groups: [...(await groupsOfUser(kysely, userId))],
      };
    }
    const enabledGroups = (await listGroups(kysely)).filter((group) => group.enabled);
    const groups = enabledGroups.map(({ name }) => name);
    return { teams: teams.map((team) => ({ ...team, groups })), groups };
  }

  /** @throws ApiError `unauthenticated` if the person has been disabled since, or has another password or role */
  async function start(
    request: FastifyRequest,
    user: StoredUser,
    method: 'password' | 'oidc' = 'password',
  ): Promise<SignedInCaller> {
    const address = request.server.clientAddress(request.raw);
    const userAgent = request.headers['user-agent'] ?? null;
    const startedAt = now();
    const caller = await fromDatabase(async () => {
      const actor = actorOf(request, user);
      const secret = await startSession(
        database.kysely,
        {
          user,
          address,
          userAgent,
          beside: (trx) =>
            recordAudit({ trx, now: startedAt }, actor, {
              action: 'create',
              subject: { kind: 'session', name: user.email },
              fields: method === 'password' ? [] : [methodField(method)],
            }),
        },
        startedAt,
      );
      await removeEndedSessions(database.kysely, startedAt);
      const session =
        secret === null ? null : await findSession(database.kysely, secret, startedAt);
      return secret === null || session === null ? null : personCaller(request, session, secret);
    });
    if (caller === null) throw new ApiError('unauthenticated', 'you are not signed in');
    return caller;
  }

  serveRoute(scope, contract.login, options, async ({ request, body }) => {
    assertPrivate(request, options);
    return logIn(request, body);
  });

  serveRoute(scope, contract.acceptInvitation, options, async ({ request, body }) => {
    assertPrivate(request, options);
    if (oidc?.only === true) throw passwordsOff(oidc);
    const email = await accept(request, body);
    return logIn(request, { email, password: body.password });
  });

  async function logIn(
    request: FastifyRequest,
    credentials: {
      readonly email: string;
      readonly password: string;
      readonly code?: string | undefined;
    },
  ) {
    const { user, browserToken: nextKnown } = await signIn({
      ...credentials,
      address: request.server.clientAddress(request.raw),
      browserToken: knownCookie(request),
    });
    if (oidc?.only === true && !(await isWayIn(user))) throw passwordsOff(oidc);
    const caller = await start(request, user);
    const { isSecure } = connectionOf(request);
    return {
      body: await show(request, caller),
      cookies: [setSessionCookie(caller.secret, isSecure), setKnownCookie(nextKnown, isSecure)],
    };
  }

  /** Whether it is the one administrator who signs in with a password although these are off: the oldest who has one. */
  const isWayIn = ({ id }: StoredUser) =>
    fromDatabase(async () => {
      const administrators = await listAdministrators(database.kysely);
      return administrators.find(({ hasPassword }) => hasPassword)?.id === id;
    });

  serveRoute(scope, contract.readSession, options, async ({ request, caller }) => ({
    body: await show(request, caller),
  }));

  serveRoute(scope, contract.logout, options, async ({ request, caller: { actor, session } }) => {
    await fromDatabase(() => endSession(administration, actor, session));
    return { body: {}, cookies: [setSessionCookie(null, connectionOf(request).isSecure)] };
  });

  const proofs = createProofs({ ...options, signIn });
  ownSessionRoutes(scope, { ...guarded, proofs, start, show });
  oidcRoutes(scope, { ...guarded, ...proofs, start, publicUrl: scope.publicUrl });
}

const methodField = (method: string) => ({
  field: 'method',
  before: null,
  after: JSON.stringify(method),
  secret: false,
});

const passwordsOff = (oidc: OidcSettings) =>
  new ApiError('forbidden', `passwords are off: sign in with ${nameOf(oidc)}`);
