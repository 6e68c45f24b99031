import type { FastifyRequest } from 'fastify';
import { type Administration, checkSecondFactor } from '#administration/index.ts';
import type { OpenDatabase } from '#database/index.ts';
import { findUser } from '#identity/index.ts';
import { ApiError } from '../errors.ts';
import { fromDatabase } from '../from-database.ts';
import type { SignedInCaller } from './caller.ts';
import { knownCookie } from './cookies.ts';
import type { Attempt } from './sign-in.ts';
import { assertMayTry, type SignInThrottle } from './throttle.ts';

/** What somebody shows besides the session: a code of the second factor, or the password. */
interface Proof {
  readonly code?: string | undefined;
  readonly password?: string | undefined;
}

interface Checks {
  /** @throws ApiError `invalid`, which names the field, for a wrong password */
  readonly assertKnows: (
    request: FastifyRequest,
    caller: SignedInCaller,
    password: string,
    field: string,
  ) => Promise<void>;
  /**
   * A session may be stolen, so it alone changes nothing of how its owner signs in. Somebody without a password has no
   * more to show.
   * @throws ApiError `invalid` for a wrong proof or none, or `too_many`
   */
  readonly assertOwner: (
    request: FastifyRequest,
    caller: SignedInCaller,
    proof: Proof,
  ) => Promise<void>;
}

/** What shows that the person of a session is there. */
export function createProofs(options: {
  readonly database: OpenDatabase;
  readonly administration: Administration;
  readonly throttle: SignInThrottle;
  readonly signIn: (attempt: Attempt) => Promise<unknown>;
  /** Unix milliseconds. */
  readonly now: () => number;
}): Checks {
  const { database, administration, throttle, signIn, now } = options;

  /** As at a sign-in, so that passwords cannot be guessed faster in a browser left open. */
  const assertKnows: Checks['assertKnows'] = async (request, caller, password, field) => {
    const { email } = caller.session.user;
    const address = request.server.clientAddress(request.raw);
    try {
      await signIn({ email, password, address, browserToken: knownCookie(request), code: null });
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'wrong_credentials') throw error;
      throw wrong(field, 'this is not the present password');
    }
  };

  return {
    assertKnows,
    async assertOwner(request, caller, { code, password }) {
      const { actor, session } = caller;
      const { user } = session;
      if (password !== undefined) return assertKnows(request, caller, password, 'password');
      if (code === undefined) {
        const stored = await fromDatabase(() => findUser(database.kysely, user.id));
        if (stored?.passwordHash === null) return undefined;
        throw wrong('password', 'expected the password, or a code of the second factor');
      }
      const names = [`second factor ${user.id}`];
      assertMayTry(throttle, names, now());
      throttle.failed(names, now());
      const isRight = await fromDatabase(() =>
        checkSecondFactor(administration, actor, user, code),
      );
      if (isRight !== true) throw wrongCode();
      return throttle.succeeded(names);
    },
  };
}

export const wrongCode = () => wrong('code', 'this code is wrong, or was used before');

const wrong = (path: string, message: string) =>
  new ApiError('invalid', `${path}: ${message}`, { fields: [{ path, message }] });
