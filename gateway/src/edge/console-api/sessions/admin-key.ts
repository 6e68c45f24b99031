import type { FastifyRequest } from 'fastify';
import type { OpenDatabase, Secrets } from '#database/index.ts';
import { createAddressSet } from '#http/index.ts';
import {
  findUsableAdminKey,
  isAdminKeySecret,
  type StoredAdminKey,
  touchAdminKey,
} from '#identity/index.ts';
import { ApiError } from '../errors.ts';
import type { LookUp } from '../from-database.ts';
import { type Caller, programCaller } from './caller.ts';
import { assertPrivate, type Privacy } from './connection.ts';
import { addressName, assertMayTry, type SignInThrottle } from './throttle.ts';

/**
 * Finds the program behind an admin key.
 * @throws ApiError `unauthenticated` with one text for every key that opens nothing, `forbidden` where others could read it on its way,
 * `too_many`, or one of the look-up
 */
export type ProgramFinder = (request: FastifyRequest, secret: string) => Promise<Caller>;

export interface ProgramFinderOptions extends Privacy {
  readonly database: OpenDatabase;
  readonly secrets: Pick<Secrets, 'hashKey'>;
  readonly lookUp: LookUp;
  readonly throttle: SignInThrottle;
  /** Receives the address of each refusal; null: unknown. */
  readonly onFailure: (address: string | null) => void;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/**
 * The admin key of a request; null: it has none. Other credentials in `authorization` are those of a proxy, which passes
 * on what it has checked: they count for nothing.
 */
export function presentedAdminKey({ headers }: FastifyRequest): string | null {
  return /^bearer[ \t]+(sa-\S+)[ \t]*$/i.exec(headers.authorization ?? '')?.[1] ?? null;
}

export function createProgramFinder(options: ProgramFinderOptions): ProgramFinder {
  const { database, secrets, lookUp, throttle, onFailure, now } = options;
  /** Hashes of keys that were right: they never wait because something else at their address uses a wrong one. */
  const rightKeys = new Set<string>();

  return async (request, secret) => {
    assertPrivate(request, options);
    const address = request.server.clientAddress(request.raw);
    // Apart from people's tries: a script with an old key must not keep its neighbours from signing in.
    const names = [`admin key, ${addressName(address)}`];
    const hash = secrets.hashKey(secret);
    if (!rightKeys.has(hash)) assertMayTry(throttle, names, now());
    const key = isAdminKeySecret(secret)
      ? await lookUp(() => findUsableAdminKey(database.kysely, hash, now()))
      : null;
    if (key === null || !isAllowed(key, address)) {
      rightKeys.delete(hash);
      throttle.failed(names, now());
      onFailure(address);
      const reasons = 'it is unknown, revoked or expired, or not for this address';
      throw new ApiError('unauthenticated', `this admin key opens nothing: ${reasons}`);
    }
    rightKeys.add(hash);
    // Nobody waits for it. If it fails, the next request notes its own use.
    void touchAdminKey(database.kysely, key, address, now()).catch(() => {});
    return programCaller(request, key);
  };
}

const isAllowed = ({ ips }: StoredAdminKey, address: string | null): boolean =>
  ips.length === 0 || (address !== null && createAddressSet(ips).has(address));
