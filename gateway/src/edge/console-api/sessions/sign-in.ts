import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { type OpenDatabase, type Secrets, verifyPassword } from '#database/index.ts';
import { findUserByEmail, type StoredUser } from '#identity/index.ts';
import { ApiError } from '../errors.ts';
import type { LookUp } from '../from-database.ts';
import type { Slots } from './slots.ts';
import { addressName, assertMayTry, type SignInThrottle } from './throttle.ts';

export interface Attempt {
  readonly email: string;
  readonly password: string;
  /** The client's; null: unknown. */
  readonly address: string | null;
  /** The browser's token from an earlier sign-in. */
  readonly browserToken: string | null;
  /** Of the second factor, as it was typed. Absent: none was; null: the person is signed in, and none is needed. */
  readonly code?: string | null | undefined;
}

export interface SignedIn {
  readonly user: StoredUser;
  /** Marks the browser as one that this person uses. */
  readonly browserToken: string;
}

/** What a password is compared with if there is no account, so that both take the same time. Of random bytes. */
const nobody = `scrypt$131072$8$1$${randomBytes(16).toString('base64url')}$${randomBytes(32).toString('base64url')}`;

export interface SignInOptions {
  readonly database: OpenDatabase;
  readonly secrets: Secrets;
  readonly lookUp: LookUp;
  /** Bounds the work on passwords. */
  readonly hashing: Slots;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly throttle: SignInThrottle;
  /** Receives the address of each wrong try; null: unknown. */
  readonly onFailure: (address: string | null) => void;
  /** Checks a code of a person's second factor; null: there is none. Without a code: whether there is one. */
  readonly checkFactor: (
    user: StoredUser,
    code: string | undefined,
    address: string | null,
  ) => Promise<boolean | null>;
}

/**
 * Checks passwords.
 * @returns a function that throws ApiError `wrong_credentials`, with one text for an unknown address, a wrong password
 *   and a person who may not sign in; once the password is right, `second_factor_required` or `wrong_code`; or `too_many`
 */
export function createSignIn({
  database,
  secrets,
  lookUp,
  hashing,
  throttle,
  now,
  onFailure,
  checkFactor,
}: SignInOptions): (attempt: Attempt) => Promise<SignedIn> {
  const sign = (userId: string, random: string) =>
    secrets.digestState(`known browser ${userId} ${random}`);

  /** The part of a browser's mark that names it; null: it is not a mark of this person. */
  function browserOf(user: StoredUser | null, browserToken: string | null): string | null {
    const [random = '', signature = ''] = browserToken?.split('.') ?? [];
    if (user === null) return null;
    const sentSignature = Buffer.from(signature);
    const expectedSignature = Buffer.from(sign(user.id, random));
    return sentSignature.length === expectedSignature.length &&
      timingSafeEqual(sentSignature, expectedSignature)
      ? random
      : null;
  }

  return async ({ email, password, address, browserToken, code }) => {
    const user = await lookUp(() => findUserByEmail(database.kysely, email));
    // Only what is signed: text behind it would make a new name of every try.
    const browser = browserOf(user, browserToken);
    const names =
      browser === null
        ? [`account ${accountName(email)}`, addressName(address)]
        : [`browser ${browser}`];
    // Twice: a try that must wait takes no place in the queue, and tries that arrive together count together.
    assertMayTry(throttle, names, now());
    const hash = user?.enabled === true ? (user.passwordHash ?? nobody) : nobody;
    const isRight = await hashing.run(() => {
      assertMayTry(throttle, names, now());
      // Before the hash. A try that finds no place has guessed nothing, and does not count.
      throttle.failed(names, now());
      return verifyPassword(password, hash);
    });
    if (user === null || !isRight) {
      onFailure(address);
      throw new ApiError('wrong_credentials', 'the e-mail address or the password is wrong');
    }
    if (code !== null) {
      // Until the code is right, the try counts as a failed one: whoever has the password cannot guess codes faster.
      const isProven = await checkFactor(user, code, address);
      if (isProven === false && code === undefined) {
        throw new ApiError('second_factor_required', 'a code of the second factor is needed');
      }
      if (isProven === false) {
        onFailure(address);
        throw new ApiError('wrong_code', 'the code is wrong, or was used before');
      }
    }
    throttle.succeeded(names);
    const random = randomBytes(12).toString('base64url');
    return { user, browserToken: `${random}.${sign(user.id, random)}` };
  };
}

/** A unique name for every account, of the same length for long and short texts. */
function accountName(email: string): string {
  return createHash('sha256').update(email.trim().toLowerCase()).digest('base64url');
}
