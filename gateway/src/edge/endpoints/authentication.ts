import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isUsable, type Caller, type KeyDirectory } from '#identity/index.ts';
import { GatewayError } from '#errors/index.ts';
import { createAddressSet, type AddressSet } from '#http/index.ts';
import { queryTexts } from './query.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The caller; null before authentication and on endpoints without it. */
    caller: Caller | null;
    /** Whose key was known and refused; null: nobody's. */
    refusedCaller: Caller | null;
  }
}

/** Restricts a scope to authenticated callers. `queryKey`: its endpoints also accept the key from `?key=`. */
export type Authenticate = (
  scope: FastifyInstance,
  options: { readonly queryKey: boolean },
) => void;

/** The caller of a request on an authenticated endpoint. */
export function callerOf(request: { readonly caller: Caller | null }): Caller {
  if (request.caller === null) throw new Error('this endpoint does not authenticate');
  return request.caller;
}

/** Without notifications, nodes learn of changes after a second or more; a caller just found is valid for as long. */
const freshMs = 1_000;

/**
 * Authenticates a request before anything of its body is read, and again if waiting and reading took time: a slow
 * request must not be admitted with a key that was revoked, or under limits that were lowered, meanwhile. Synchronous
 * for every key in memory; only an unknown key makes the request wait.
 *
 * @param now Unix milliseconds
 */
export function createAuthentication(keys: KeyDirectory, now: () => number): Authenticate {
  const accept = (request: FastifyRequest, caller: Caller | null): GatewayError | undefined => {
    if (caller === null) return new GatewayError('invalid_key');
    if (!isUsable(caller, now())) {
      request.refusedCaller = caller;
      return new GatewayError(caller.team?.enabled === false ? 'team_disabled' : 'invalid_key');
    }
    if (caller.ips.length > 0 && !isAddressAllowed(caller, request)) {
      request.refusedCaller = caller;
      return new GatewayError('ip_not_allowed');
    }
    request.caller = caller;
    return undefined;
  };

  return (scope, { queryKey }) => {
    function authenticate(request: FastifyRequest, _reply: FastifyReply, done: Done): void {
      const presentation = presentedKey(
        request.raw.rawHeaders,
        queryKey ? queryTexts(request.query, 'key') : [],
      );
      if (presentation.kind !== 'key') {
        done(new GatewayError(presentation.kind === 'none' ? 'missing_key' : 'invalid_key'));
        return;
      }
      const lookup = keys.find(presentation.secret);
      if (lookup instanceof Promise) {
        void settle(lookup, (caller) => accept(request, caller), done);
      } else {
        done(accept(request, lookup));
      }
    }
    scope.addHook('onRequest', authenticate);
    scope.addHook('preHandler', (request, reply, done) => {
      if (performance.now() - request.startedAt < freshMs) done();
      else authenticate(request, reply, done);
    });
  };
}

type Done = (error?: Error) => void;

async function settle(
  lookup: Promise<Caller | null>,
  accept: (caller: Caller | null) => GatewayError | undefined,
  done: Done,
): Promise<void> {
  let refusal: Error | undefined;
  try {
    refusal = accept(await lookup);
  } catch (thrown) {
    refusal = thrown instanceof Error ? thrown : new Error('key look-up failed', { cause: thrown });
  }
  done(refusal);
}

/** Built once per caller; a changed key is a new caller. */
const allowlists = new WeakMap<Caller, AddressSet>();

function isAddressAllowed(caller: Caller, request: FastifyRequest): boolean {
  let allowlist = allowlists.get(caller);
  if (allowlist === undefined) {
    allowlist = createAddressSet(caller.ips);
    allowlists.set(caller, allowlist);
  }
  const address = request.server.clientAddress(request.raw);
  return address !== null && allowlist.has(address);
}

/** The key that a request presents. */
type Presented =
  | { readonly kind: 'none' }
  /** Several different keys, or something that cannot be a key. */
  | { readonly kind: 'unusable' }
  | { readonly kind: 'key'; readonly secret: string };

const none: Presented = Object.freeze({ kind: 'none' });
const unusable: Presented = Object.freeze({ kind: 'unusable' });

/** Longer secrets are not looked up. Characters. */
const longestSecret = 512;
const authorization = 'authorization';
const bearer = /^bearer(?:[ \t]+|$)/i;

/**
 * Reads the key of a request from every header that can carry it, and from `?key=` if the endpoint allows that. Reads
 * the raw list, because Node keeps only the first of a repeated `authorization` and joins the others. Here every
 * occurrence counts: the same key twice is fine, two different keys are not.
 *
 * @param rawHeaders names and values alternating, as received
 * @param queryKeys values of `?key=`; empty if the query is not a place for keys
 */
function presentedKey(rawHeaders: readonly string[], queryKeys: readonly string[] = []): Presented {
  let secret = '';
  let otherScheme = false;
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    if (!isKeyHeader(name)) continue;
    let value = (rawHeaders[index + 1] ?? '').trim();
    if (name.length === authorization.length && value !== '') {
      if (bearer.test(value)) value = value.replace(bearer, '');
      else {
        otherScheme = true;
        continue;
      }
    }
    if (value === '' || value === secret) continue;
    if (secret !== '') return unusable;
    secret = value;
  }
  for (const value of queryKeys) {
    if (value === '' || value === secret) continue;
    if (secret !== '') return unusable;
    secret = value;
  }
  if (secret === '') return otherScheme ? unusable : none;
  // Anything else cannot be a key and costs no look-up.
  const isPossible = secret.startsWith('sk-') && secret.length <= longestSecret;
  return isPossible ? { kind: 'key', secret } : unusable;
}

/** Checks the length first: this runs for every header of every request. */
function isKeyHeader(name: string): boolean {
  switch (name.length) {
    case 9:
      return name.toLowerCase() === 'x-api-key';
    case 13:
      return name.toLowerCase() === authorization;
    case 14:
      return name.toLowerCase() === 'x-goog-api-key';
    case 17:
      return name.toLowerCase() === 'x-vendorc-api-key';
    default:
      return false;
  }
}
