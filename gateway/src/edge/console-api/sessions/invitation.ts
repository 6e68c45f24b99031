import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { acceptInvitation, type Administration } from '#administration/index.ts';
import { hashPassword } from '#database/index.ts';
import { findInvitedUser } from '#identity/index.ts';
import { ApiError } from '../errors.ts';
import { fromDatabase } from '../from-database.ts';
import { actorOf } from './caller.ts';
import type { SignInOptions } from './sign-in.ts';
import { addressName, assertMayTry } from './throttle.ts';

/** Milliseconds for which an invitation is valid. */
export const invitationAge = 48 * 3_600_000;

/** What is stored of an invitation's token: SHA-256 in hex. */
export const hashOfToken = (token: string) => createHash('sha256').update(token).digest('hex');

/**
 * Sets first passwords.
 * @returns a function that gives the address of the person, and throws ApiError `wrong_credentials` for every token with
 *   which nobody can set a password (any more), or `too_many`
 */
export function createAcceptance({
  database,
  lookUp,
  hashing,
  throttle,
  now,
  onFailure,
  administration,
}: SignInOptions & { readonly administration: Administration }) {
  return async (
    request: FastifyRequest,
    { token, password }: { readonly token: string; readonly password: string },
  ): Promise<string> => {
    const address = request.server.clientAddress(request.raw);
    const names = [addressName(address)];
    assertMayTry(throttle, names, now());
    const hash = hashOfToken(token);
    const invited = await lookUp(() => findInvitedUser(database.kysely, hash, now()));
    if (invited !== null) {
      const passwordHash = await hashing.run(() => hashPassword(password));
      const email = await fromDatabase(() =>
        acceptInvitation(administration, (user) => actorOf(request, user), { hash, passwordHash }),
      );
      if (email !== null) return email;
    }
    throttle.failed(names, now());
    onFailure(address);
    const message =
      'this link does not work: it was used, another one was made, or 48 hours are over';
    throw new ApiError('wrong_credentials', message);
  };
}
