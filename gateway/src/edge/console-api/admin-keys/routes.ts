import type { FastifyInstance } from 'fastify';
import { type Administration, createAdminKey, revokeAdminKey } from '#administration/index.ts';
import { adminKey } from '#config/index.ts';
import { listAdminKeys, type StoredAdminKey } from '#identity/index.ts';
import { contract } from '../contract/index.ts';
import { fromDatabase, type Reads } from '../from-database.ts';
import { serveRoute, type ServeOptions } from '../serve-route.ts';
import { callOf, readMembers, throwRefusal } from '../writes.ts';

export interface AdminKeyRoutesOptions extends ServeOptions {
  readonly reads: Reads;
  readonly administration: Administration;
  /** Unix milliseconds. */
  readonly now: () => number;
}

const defaultLimit = 50;

/** The keys with which programs administer the gateway. Only people make, see and revoke them. */
export function adminKeyRoutes(scope: FastifyInstance, options: AdminKeyRoutesOptions): void {
  const { administration, reads, now } = options;

  /** Runs a use case. @throws ApiError for what it refuses, and `database_away` */
  const change = <Result>(useCase: () => Promise<Result>) =>
    fromDatabase(() => useCase().catch((error: unknown) => throwRefusal(adminKey, error)));

  serveRoute(scope, contract.listAdminKeys, options, async ({ query }) => {
    const { limit = defaultLimit, cursor } = query;
    const before = cursor !== undefined && { before: readCursor(cursor) };
    // One more than is shown tells whether there is a next page.
    const found = await reads((db) => listAdminKeys(db, { limit: limit + 1, ...before }));
    const keys = found.slice(0, limit);
    const last = found.length > limit ? keys.at(-1) : undefined;
    const next = last === undefined ? null : `${last.createdAt}_${last.id}`;
    return { body: { data: keys.map(viewOf), next } };
  });

  serveRoute(scope, contract.createAdminKey, options, async ({ request, body, caller }) => {
    const members = readMembers(adminKey, body);
    const call = callOf(request, caller);
    const { key, secret } = await change(() =>
      createAdminKey(administration, caller.actor, members, call),
    );
    return { body: { ...viewOf(key), ...(secret !== null && { key: secret }) } };
  });

  serveRoute(scope, contract.revokeAdminKey, options, async ({ parameters, caller }) => {
    const { key } = await change(() => revokeAdminKey(administration, caller.actor, parameters.id));
    return { body: viewOf(key) };
  });

  function viewOf(key: StoredAdminKey) {
    const { id, name, role, ips, prefix, maker } = key;
    return {
      id,
      name,
      role,
      ips: [...ips],
      prefix,
      active: key.revokedAt === null && key.expiresAt > now(),
      created_by: maker && {
        id: maker.id,
        email: maker.email,
        administrator: maker.isAdministrator,
      },
      created: asTime(key.createdAt),
      expires_at: asTime(key.expiresAt),
      last_used_at: key.lastUsedAt === null ? null : asTime(key.lastUsedAt),
      last_used_address: key.lastUsedAddress,
      revoked_at: key.revokedAt === null ? null : asTime(key.revokedAt),
    };
  }
}

function readCursor(cursor: string) {
  const at = cursor.indexOf('_');
  return { createdAt: Number(cursor.slice(0, at)), id: cursor.slice(at + 1) };
}

const asTime = (milliseconds: number) => new Date(milliseconds).toISOString();
