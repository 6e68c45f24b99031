import type { FastifyInstance } from 'fastify';
import {
  type Administration,
  createKey,
  graceRule,
  listKeys,
  recordAudit,
  parseGrace,
  revokeKey,
  rotateKey,
  usualGrace,
} from '#administration/index.ts';
import { formatUsd, type OpenDatabase, type Secrets } from '#database/index.ts';
import { listKeys as readKeys, type StoredKey } from '#identity/index.ts';
import { spentOf } from '#ledger/index.ts';
import { contract } from '../contract/index.ts';
import { ApiError } from '../errors.ts';
import { fromDatabase } from '../from-database.ts';
import type { Reads } from '../reads.ts';
import { serveRoute, type ServeOptions } from '../serve-route.ts';
import { actorOf } from '../sessions/actor-of.ts';
import type { SignedInCaller } from '../sessions/guard.ts';
import { refused } from './refused.ts';
import { readSettings } from './settings.ts';

export interface KeyRoutesOptions extends ServeOptions {
  readonly database: OpenDatabase;
  readonly reads: Reads;
  readonly secrets: Secrets;
  /** Unix milliseconds. */
  readonly now: () => number;
}

type Db = OpenDatabase['kysely'];

/** Runs a use case. @throws ApiError for what it refuses, and `database_away` */
const change = <Result>(useCase: () => Promise<Result>) =>
  fromDatabase(() => useCase().catch(refused));

const defaultLimit = 50;

/** Keys, and what may be done with them. */
export function keyRoutes(scope: FastifyInstance, options: KeyRoutesOptions): void {
  const { database, reads, secrets, now } = options;
  const administration: Administration = { database, secrets, audit: recordAudit, now };

  serveRoute(scope, contract.listKeys, options, async ({ query, caller }) => {
    const { limit = defaultLimit, cursor } = query;
    return reads(async (db) => {
      // One more than is shown tells whether there is a next page.
      const found = await readKeys(db, {
        limit: limit + 1,
        ...ownUnless(caller, 'keys.read'),
        ...(cursor !== undefined && { after: cursor }),
      });
      const keys = found.slice(0, limit);
      const next = found.length > limit ? (keys.at(-1)?.name ?? null) : null;
      return { body: { data: await viewsOf(db, keys, now()), next } };
    });
  });

  serveRoute(scope, contract.createKey, options, async ({ request, body, caller }) => {
    const { user } = caller.session;
    const settings = readSettings({ ...body, user: body.user ?? user.email });
    if (settings.user !== user.email && !caller.permissions.includes('keys.write')) {
      throw new ApiError('forbidden', 'your role allows keys of your own only');
    }
    const { key, secret } = await change(() =>
      createKey(administration, actorOf(request, caller.session.user), settings),
    );
    return { body: { ...(await viewOf(database.kysely, key, now())), key: secret } };
  });

  serveRoute(scope, contract.rotateKey, options, async ({ request, parameters, body, caller }) => {
    const key = await writable(caller, parameters.id);
    const grace = readGrace(body.grace);
    const rotated = await change(() =>
      rotateKey(administration, actorOf(request, caller.session.user), { key, grace }),
    );
    return {
      body: { ...(await viewOf(database.kysely, rotated.key, now())), key: rotated.secret },
    };
  });

  serveRoute(scope, contract.revokeKey, options, async ({ request, parameters, caller }) => {
    const key = await writable(caller, parameters.id);
    await change(() => revokeKey(administration, actorOf(request, caller.session.user), key));
    const [revoked] = await listKeys(administration, key);
    if (revoked === undefined) throw noSuchKey();
    return { body: await viewOf(database.kysely, revoked, now()) };
  });

  /**
   * The key with this id, as the use cases find it.
   * @throws ApiError `forbidden` for one that the caller may see and not change
   */
  async function writable(caller: SignedInCaller, id: string) {
    const reference = { id, ...ownUnless(caller, 'keys.write') };
    if (reference.userId !== undefined && caller.permissions.includes('keys.read')) {
      const [key] = await listKeys(administration, { id });
      if (key !== undefined && key.userId !== reference.userId) {
        throw new ApiError('forbidden', 'your role allows changes of your own keys only');
      }
    }
    return reference;
  }
}

const noSuchKey = () => new ApiError('not_found', 'there is no such key');

/** People without the permission have to do with their own keys only. */
function ownUnless(
  { permissions, session }: SignedInCaller,
  permission: 'keys.read' | 'keys.write',
): { readonly userId?: string } {
  return permissions.includes(permission) ? {} : { userId: session.user.id };
}

/** Milliseconds. @throws ApiError `invalid` */
function readGrace(given: string | number = usualGrace): number {
  const grace = parseGrace(typeof given === 'number' ? `${given}s` : given);
  if (grace !== null) return grace;
  const message = `expected ${graceRule}`;
  throw new ApiError('invalid', `grace: ${message}`, { fields: [{ path: 'grace', message }] });
}

async function viewOf(db: Db, key: StoredKey, now: number) {
  const [view] = await viewsOf(db, [key], now);
  if (view === undefined) throw noSuchKey();
  return view;
}

async function viewsOf(db: Db, keys: readonly StoredKey[], now: number) {
  const spent = await spentOf(db, keys.map(meterOf));
  return keys.map((key) => ({
    id: key.id,
    name: key.name,
    prefix: key.prefix,
    user: key.user,
    team: key.team,
    group: key.group,
    models: [...key.models],
    quota: key.quota,
    spent: formatUsd(spent.get(meterOf(key)) ?? 0n),
    expires_at: asTime(key.expiresAt),
    ips: [...key.ips],
    rpm: key.rpm,
    rph: key.rph,
    max_concurrency: key.maxConcurrency,
    conversion: key.conversion,
    cap_output: key.capOutput,
    enabled: key.enabled,
    owner: key.owner,
    editable: key.owner !== 'file',
    rotatable: key.hasSecret && key.secretOwner !== 'file' && key.revokedAt === null,
    created: new Date(key.createdAt).toISOString(),
    revoked_at: asTime(key.revokedAt),
    previous_valid_until:
      key.previousUntil !== null && key.previousUntil > now ? asTime(key.previousUntil) : null,
  }));
}

/** Counts for every key, also without a quota. */
const meterOf = ({ id }: StoredKey) => `key:${id}:quota`;

function asTime(milliseconds: number | null): string | null {
  return milliseconds === null ? null : new Date(milliseconds).toISOString();
}
