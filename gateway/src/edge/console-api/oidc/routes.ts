import type { FastifyInstance, FastifyRequest } from 'fastify';
import {
  type Administration,
  IdentityRefused,
  type IdentityProblem,
  signInByIdentity,
  unlinkUser,
} from '#administration/index.ts';
import { kinds } from '#config/index.ts';
import type { OpenDatabase, Secrets } from '#database/index.ts';
import { countSignIns, listSessions, type StoredUser } from '#identity/index.ts';
import type { Logger } from '#observability/index.ts';
import { contract } from '../contract/index.ts';
import { ApiError, base } from '../errors.ts';
import { fromDatabase, type Reads } from '../from-database.ts';
import { serveRoute, type ServeOptions } from '../serve-route.ts';
import { actorOf } from '../sessions/caller.ts';
import { assertPrivate, connectionOf, type Privacy } from '../sessions/connection.ts';
import { setSessionCookie, setWayBackCookie, wayBackCookie } from '../sessions/cookies.ts';
import type { createProofs } from '../sessions/proof.ts';
import { addressName, assertMayTry, type SignInThrottle } from '../sessions/throttle.ts';
import { hashOfToken } from '../sessions/invitation.ts';
import { throwRefusal } from '../writes.ts';
import { type ClaimsProblem, readClaims } from './claims.ts';
import {
  createOidcProvider,
  type OidcSettings,
  ProviderFailed,
  type ProviderProblem,
} from './provider.ts';
import { newWayBack, openWayBack, sealWayBack, type WayBack, wayBackAge } from './way-back.ts';

export interface OidcOptions extends ServeOptions, Privacy {
  readonly database: OpenDatabase;
  readonly reads: Reads;
  readonly secrets: Secrets;
  readonly administration: Administration;
  /** Null: there is no provider. */
  readonly oidc: OidcSettings | null;
  /** Where the console is, without a slash at the end; null without a provider. */
  readonly publicUrl: string | null;
  readonly throttle: SignInThrottle;
  /** Receives the address of each wrong try; null: unknown. */
  readonly onFailure: (address: string | null) => void;
  /** Starts a session and gives its secret. @throws ApiError `unauthenticated` */
  readonly start: (
    request: FastifyRequest,
    user: StoredUser,
    method: 'oidc',
  ) => Promise<{ readonly secret: string }>;
  readonly assertOwner: ReturnType<typeof createProofs>['assertOwner'];
  readonly log: Pick<Logger, 'warn'>;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/** Why somebody does not get in; the page of the sign-in has words for each. */
export type OidcProblem =
  | ProviderProblem
  | ClaimsProblem
  | IdentityProblem
  /** The browser did not begin this sign-in, or too long ago. */
  | 'not-begun'
  | 'too-many'
  | 'not-safe'
  | 'failed';

const callback = `${base}/auth/oidc/callback`;

/** Signing in at a provider of OpenID Connect. */
export function oidcRoutes(scope: FastifyInstance, options: OidcOptions): void {
  const { database, secrets, administration, oidc, throttle, onFailure, start, log, now } = options;
  const { publicUrl, reads, assertOwner } = options;
  const redirectUri = `${publicUrl ?? ''}${callback}`;
  const provider = oidc === null ? null : createOidcProvider(oidc, redirectUri, now);
  const lines = createLineBudget(now);

  serveRoute(scope, contract.readMethods, options, async () => {
    const password = oidc?.only === true ? ('one' as const) : ('everybody' as const);
    const start = `${publicUrl}${base}/auth/oidc/start`;
    return { body: { password, oidc: oidc && { name: nameOf(oidc), start } } };
  });

  serveRoute(scope, contract.readSignInSettings, options, async () => {
    const counts = await reads((db) => countSignIns(db, oidc?.issuer ?? null));
    return {
      body: {
        password: oidc?.only === true ? ('one' as const) : ('everybody' as const),
        oidc: oidc && {
          name: nameOf(oidc),
          issuer: oidc.issuer ?? '',
          client_id: oidc.clientId ?? '',
          redirect_uri: redirectUri,
          scopes: oidc.scopes,
          domains: oidc.domains,
          create: oidc.create,
          role: oidc.role,
          role_claim: oidc.roleClaim,
          role_map: { ...oidc.roleMap },
        },
        people: {
          all: counts.people,
          password: counts.passwords,
          oidc: counts.connected,
          second_factor: counts.secondFactors,
        },
      },
    };
  });

  serveRoute(scope, contract.startOidc, options, async ({ request, query }) => {
    const known = knownProvider();
    try {
      assertPrivate(request, options);
      const wayBack = newWayBack(query.to ?? '/console', null, now());
      const location = await known.begin(wayBack);
      return { body: {}, location: location.href, cookies: [keep(request, wayBack)] };
    } catch (error) {
      return { body: {}, location: problemPage(request, error, '/console/sign-in') };
    }
  });

  serveRoute(scope, contract.linkOidc, options, async ({ request, body, caller }) => {
    const known = knownProvider();
    if (request.headers.origin !== new URL(redirectUri).origin) {
      // The cookie of another name would not come back.
      throw new ApiError(
        'conflict',
        `open the console at ${publicUrl ?? ''} to connect the account`,
      );
    }
    await assertOwner(request, caller, body);
    const { id: session, user } = caller.session;
    const wayBack = newWayBack('/console/settings', { user: user.id, session }, now());
    try {
      const location = await known.begin(wayBack);
      return { body: { location: location.href }, cookies: [keep(request, wayBack)] };
    } catch (error) {
      if (!(error instanceof ProviderFailed)) throw error;
      report(request, error);
      throw new ApiError('provider_away', `${nameOf(oidc!)} does not respond`, { cause: error });
    }
  });

  serveRoute(scope, contract.unlinkOidc, options, async ({ request, body, caller }) => {
    if (oidc?.only === true) throw onlyWayIn();
    await assertOwner(request, caller, body);
    const { id } = caller.session.user;
    await fromDatabase(() =>
      unlinkUser(administration, caller.actor, id).catch((error: unknown) =>
        throwRefusal(kinds.user, error),
      ),
    );
    return { body: {} };
  });

  serveRoute(scope, contract.finishOidc, options, async ({ request }) => {
    const known = knownProvider();
    const rules = cookieRules(request, stateIn(request) ?? '');
    const sealed = wayBackCookie(request, rules);
    const wayBack = sealed === null ? null : openWayBack(secrets, sealed, now());
    const isLink = wayBack?.link != null;
    // It is used up, whatever comes of it.
    const used = setWayBackCookie(null, rules);
    try {
      assertPrivate(request, options);
      const secret = await finish(request, known, wayBack);
      const cookies = secret === null ? [] : [setSessionCookie(secret, rules.isSecure)];
      return {
        body: {},
        location: `${publicUrl}${wayBack?.to ?? ''}`,
        cookies: [used, ...cookies],
      };
    } catch (error) {
      const page = isLink ? '/console/settings' : '/console/sign-in';
      return { body: {}, location: problemPage(request, error, page, wayBack), cookies: [used] };
    }
  });

  /** @throws ApiError `not_found` without one */
  function knownProvider() {
    if (provider === null) {
      throw new ApiError('not_found', 'people sign in with passwords here: the file has no oidc');
    }
    return provider;
  }

  /**
   * @returns the secret of the new session; null: the person had one and has linked the account
   * @throws Problem, ProviderFailed, IdentityRefused, ApiError
   */
  async function finish(
    request: FastifyRequest,
    known: NonNullable<typeof provider>,
    wayBack: WayBack | null,
  ): Promise<string | null> {
    const { search } = urlOf(request);
    if (wayBack === null || stateIn(request) !== wayBack.state) {
      throw new Problem('not-begun');
    }
    const address = request.server.clientAddress(request.raw);
    const names = [addressName(address)];
    assertMayTry(throttle, names, now());
    const claims = await known.finish(search, wayBack).catch((error: unknown) => {
      // A code that was made up: each of them is a call of the provider.
      if (error instanceof ProviderFailed && error.problem === 'not-proven') {
        throttle.failed(names, now());
        onFailure(address);
      }
      throw error;
    });
    const person = readClaims(claims, oidc!);
    if (typeof person === 'string') throw new Problem(person);
    const { link, state, expiresAt } = wayBack;
    if (link !== null && !(await isSignedIn(link))) throw new Problem('not-begun');
    const user = await fromDatabase(() =>
      signInByIdentity(administration, (each) => actorOf(request, each), person, oidc!, {
        id: hashOfToken(state),
        until: expiresAt,
        linkTo: link?.user ?? null,
      }).catch(keepRefusal),
    );
    if (user instanceof IdentityRefused) throw user;
    throttle.succeeded(names);
    return link === null ? (await start(request, user, 'oidc')).secret : null;
  }

  const isSignedIn = (link: NonNullable<WayBack['link']>) =>
    fromDatabase(async () =>
      (await listSessions(database.kysely, link.user, now())).some(({ id }) => id === link.session),
    );

  function keep(request: FastifyRequest, wayBack: WayBack): string {
    return setWayBackCookie(sealWayBack(secrets, wayBack), cookieRules(request, wayBack.state));
  }

  const cookieRules = (request: FastifyRequest, state: string) => ({
    state,
    path: new URL(redirectUri).pathname,
    age: wayBackAge / 1_000,
    isSecure: connectionOf(request).isSecure,
  });

  /** The page that says why, with the id of the request: the log has the provider's words under it. */
  function problemPage(
    request: FastifyRequest,
    error: unknown,
    page: string,
    wayBack: WayBack | null = null,
  ): string {
    report(request, error);
    const search = new URLSearchParams({ problem: problemOf(error), request: request.id });
    const inside = wayBack?.to.slice('/console'.length) ?? '';
    if (page === '/console/sign-in' && inside.startsWith('/')) search.set('to', inside);
    return `${publicUrl}${page}?${search.toString()}`;
  }

  function report({ id: requestId }: FastifyRequest, error: unknown): void {
    const problem = problemOf(error);
    // Anybody can cause these, as often as they like.
    if (problem === 'not-begun' || problem === 'too-many' || !lines.hasRoom()) return;
    const detail = error instanceof ProviderFailed ? `${problem}: ${error.message}` : problem;
    log.warn('a sign-in at the provider failed', { component: 'oidc', requestId, detail });
  }
}

const urlOf = ({ originalUrl }: FastifyRequest) => new URL(originalUrl, 'http://callback.invalid');
const stateIn = (request: FastifyRequest) => urlOf(request).searchParams.get('state');

/** Lines of the log in a minute: a flood of sign-ins does not fill it. */
const mostLines = 30;

function createLineBudget(now: () => number) {
  let [minute, count] = [0, 0];
  return {
    hasRoom() {
      const current = Math.floor(now() / 60_000);
      [minute, count] = [current, current === minute ? count + 1 : 1];
      return count <= mostLines;
    },
  };
}

class Problem extends Error {
  readonly problem: OidcProblem;

  constructor(problem: OidcProblem) {
    super(problem);
    this.problem = problem;
  }
}

/** So that it does not count as a fault of the database. */
function keepRefusal(error: unknown): IdentityRefused {
  if (error instanceof IdentityRefused) return error;
  throw error;
}

function problemOf(error: unknown): OidcProblem {
  if (
    error instanceof Problem ||
    error instanceof ProviderFailed ||
    error instanceof IdentityRefused
  ) {
    return error.problem;
  }
  if (!(error instanceof ApiError)) return 'failed';
  const known = {
    too_many: 'too-many',
    forbidden: 'not-safe',
    unauthenticated: 'disabled',
  } as const;
  return known[error.code as keyof typeof known] ?? 'failed';
}

/** What the button says. */
export const nameOf = ({ name, issuer }: OidcSettings): string =>
  name ?? new URL(issuer ?? '').host;

export const onlyWayIn = () =>
  new ApiError('conflict', 'passwords are off, so the provider is the only way to sign in');
