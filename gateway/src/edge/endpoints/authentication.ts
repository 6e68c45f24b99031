import type { FastifyReply, FastifyRequest } from 'fastify';
import { isUsable, type Caller, type KeyDirectory } from '#identity/index.ts';
import { GatewayError } from '#errors/index.ts';
import { createAddressSet, presentedKey, type AddressSet } from '#http/index.ts';
import type { EndpointContext } from './context.ts';

/** Without notifications, nodes learn of changes after a second or more; a caller just found is valid for as long. */
const freshMs = 1_000;

/**
 * Authenticates a request before anything of its body is read, and again if waiting and reading took time: a slow
 * request must not be admitted with a key that was revoked, or under limits that were lowered, meanwhile. Synchronous
 * for every key in memory; only an unknown key makes the request wait.
 *
 * @param now Unix milliseconds
 */
export function createAuthentication(
  keys: KeyDirectory,
  now: () => number,
): EndpointContext['authenticate'] {
  const admit = (request: FastifyRequest, caller: Caller | null): GatewayError | undefined => {
    if (caller === null || !isUsable(caller, now())) return new GatewayError('invalid_key');
    if (!isAddressAllowed(caller, request)) return new GatewayError('ip_not_allowed');
    request.caller = caller;
    return undefined;
  };

  return (scope, { queryKey }) => {
    function authenticate(request: FastifyRequest, _reply: FastifyReply, done: Done): void {
      const presented = presentedKey(
        request.raw.rawHeaders,
        queryKey ? queryKeysOf(request.query) : [],
      );
      if (presented.kind !== 'key') {
        done(new GatewayError(presented.kind === 'none' ? 'missing_key' : 'invalid_key'));
        return;
      }
      const found = keys.find(presented.secret);
      if (found instanceof Promise) {
        void settle(found, (caller) => admit(request, caller), done);
      } else {
        done(admit(request, found));
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
  found: Promise<Caller | null>,
  admit: (caller: Caller | null) => GatewayError | undefined,
  done: Done,
): Promise<void> {
  let refusal: Error | undefined;
  try {
    refusal = admit(await found);
  } catch (thrown) {
    refusal = thrown instanceof Error ? thrown : new Error('key look-up failed', { cause: thrown });
  }
  done(refusal);
}

/** Built once per caller; a changed key is a new caller. */
const allowlists = new WeakMap<Caller, AddressSet>();

function isAddressAllowed(caller: Caller, request: FastifyRequest): boolean {
  if (caller.ips.length === 0) return true;
  let allowlist = allowlists.get(caller);
  if (allowlist === undefined) {
    allowlist = createAddressSet(caller.ips);
    allowlists.set(caller, allowlist);
  }
  const address = request.server.clientAddress(request.raw);
  return address !== null && allowlist.has(address);
}

function queryKeysOf(query: unknown): readonly string[] {
  if (typeof query !== 'object' || query === null || !('key' in query)) return [];
  const { key } = query;
  if (typeof key === 'string') return [key];
  return Array.isArray(key) ? key.filter((value) => typeof value === 'string') : [];
}
