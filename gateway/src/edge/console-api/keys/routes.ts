import type { FastifyInstance } from 'fastify';
import {
  type Administration,
  type ChangedSettings,
  changeKey,
  createOwnKey,
  entryOfKey,
  type KeySettings,
  graceRule,
  listKeys,
  parseGrace,
  revokeKey,
  rotateOwnKey,
  Stale,
  usualGrace,
} from '#administration/index.ts';
import { kinds } from '#config/index.ts';
import { formatUsd, type OpenDatabase } from '#database/index.ts';
import { listKeys as readKeys, type Reach, type StoredKey } from '#identity/index.ts';
import { spentOf } from '#ledger/index.ts';
import { lastUses } from '#usage/index.ts';
import { contract } from '../contract/index.ts';
import { ApiError } from '../errors.ts';
import { fromDatabase, type Reads } from '../from-database.ts';
import type { ConsoleMembers } from '../contract/permissions.ts';
import { serveRoute, type ServeOptions } from '../serve-route.ts';
import { type Caller, personOf } from '../sessions/caller.ts';
import {
  callOf,
  ownedByFile,
  type PlaceInFile,
  readChanges,
  readMembers,
  throwRefusal,
  revisionOf,
  showEntry,
} from '../writes.ts';
import { groupsFor, keyReachOf, type KeyReach, seenKeys, usualGroupOf } from './reach.ts';

export interface KeyRoutesOptions extends ServeOptions {
  readonly database: OpenDatabase;
  readonly reads: Reads;
  readonly administration: Administration;
  /** What people without `keys.write` may do. */
  readonly members: ConsoleMembers;
  readonly placeInFile: PlaceInFile;
  /** Unix milliseconds. */
  readonly now: () => number;
}

type Db = OpenDatabase['kysely'];

const defaultLimit = 50;

/** Keys, and what may be done with them. */
export function keyRoutes(scope: FastifyInstance, options: KeyRoutesOptions): void {
  const { administration, database, reads, members, placeInFile, now } = options;

  /** Runs a use case. @throws ApiError for what it refuses, and `database_away` */
  const change = <Result>(useCase: () => Promise<Result>) =>
    fromDatabase(() => useCase().catch((error: unknown) => throwRefusal(kinds.key, error)));

  serveRoute(scope, contract.listKeys, options, async ({ query, caller }) => {
    const { limit = defaultLimit, cursor, q, user } = query;
    return reads(async (db) => {
      const sees = await seenKeys(db, caller);
      // One more than is shown tells whether there is a next page.
      const foundKeys = await readKeys(db, {
        limit: limit + 1,
        ...(sees !== undefined && { within: sees }),
        ...(cursor !== undefined && { after: cursor }),
        ...(q !== undefined && { search: q }),
        ...(user !== undefined && { user }),
      });
      const keys = foundKeys.slice(0, limit);
      const next = foundKeys.length > limit ? (keys.at(-1)?.name ?? null) : null;
      return { body: { data: await viewsOf(db, keys), next } };
    });
  });

  serveRoute(scope, contract.readKey, options, async ({ parameters, query, caller }) =>
    reads(async (db) => {
      const sees = await seenKeys(db, caller);
      const [key] = await readKeys(db, {
        id: parameters.id,
        ...(sees !== undefined && { within: sees }),
      });
      if (key === undefined) throw noSuchKey();
      return {
        body: await viewOf(db, key),
        revision: key.revision,
        ...(query.as === 'yaml' && { yaml: entryOfKey(key) }),
      };
    }),
  );

  serveRoute(scope, contract.createKey, options, async ({ request, body, caller }) => {
    const { kysely } = database;
    const reach = await fromDatabase(() => keyReachOf(kysely, caller));
    const owner = body.user ?? caller.session?.user.email;
    const keyMembers = readMembers(kinds.key, { ...body, user: owner });
    const settings =
      reach.changes === undefined ? keyMembers : await requireAllowed(keyMembers, body.group);
    const call = callOf(request, caller);
    const { key, secret } = await change(() =>
      createOwnKey(administration, caller.actor, settings, {
        rank: reach.changes === undefined ? 'admin' : 'member',
        most: reach.changes === undefined ? null : members.maxKeys,
        ...(call !== undefined && { call }),
      }),
    );
    return {
      body: { ...(await viewOf(kysely, key)), ...(secret !== null && { key: secret }) },
      revision: key.revision,
    };

    /** What a person who may not manage all keys has requested. @throws ApiError `forbidden` */
    async function requireAllowed(
      requestedSettings: KeySettings,
      group: string | null | undefined,
    ) {
      const user = personOf(caller);
      assertAllowed(requestedSettings, user.email, reach.teams);
      const payer = { userId: user.id, team: requestedSettings.team };
      const groups = await fromDatabase(() => groupsFor(kysely, payer));
      const named =
        group == null ? { ...requestedSettings, group: usualGroupOf(groups) } : requestedSettings;
      assertGroup(named.group, groups, requestedSettings.team);
      return named;
    }
  });

  serveRoute(scope, contract.changeKey, options, async ({ request, parameters, body, caller }) => {
    const revision = revisionOf(request);
    const { reach, key } = await writable(caller, parameters.id);
    if (key.owner === 'file') throw ownedByFile(placeInFile, kinds.key, key.name);
    const settings = readChanges(kinds.key, { name: key.name, user: key.user }, body);
    if (reach.changes !== undefined) {
      await assertChangeAllowed(key, settings, reach);
    }
    const changedKey = await fromDatabase(() =>
      changeKey(administration, caller.actor, {
        id: key.id,
        ...(reach.changes !== undefined && { within: reach.changes }),
        revision,
        settings,
        rankOver: reach.rankOver,
      }).catch(async (error: unknown) => {
        if (!(error instanceof Stale)) return throwRefusal(kinds.key, error);
        const object = await viewOf(database.kysely, error.entry as StoredKey);
        throw new ApiError('stale', error.message, { details: { object } });
      }),
    );
    return { body: await viewOf(database.kysely, changedKey), revision: changedKey.revision };
  });

  serveRoute(scope, contract.rotateKey, options, async ({ request, parameters, body, caller }) => {
    const { reach, key: foundKey } = await writable(caller, parameters.id);
    if (foundKey.secretOwner === 'file') throw ownedByFile(placeInFile, kinds.key, foundKey.name);
    const grace = readGrace(body.grace);
    const reference = {
      id: foundKey.id,
      ...(reach.changes !== undefined && { within: reach.changes }),
    };
    const rotation = { key: reference, grace };
    const { key, secret } = await change(() =>
      rotateOwnKey(administration, caller.actor, rotation, callOf(request, caller)),
    );
    return {
      body: {
        ...(await viewOf(database.kysely, key)),
        ...(secret !== null && { key: secret }),
      },
      revision: key.revision,
    };
  });

  serveRoute(scope, contract.revokeKey, options, async ({ parameters, caller }) => {
    const { reach, key } = await writable(caller, parameters.id);
    const reference = { id: key.id, ...(reach.changes !== undefined && { within: reach.changes }) };
    await change(() => revokeKey(administration, caller.actor, reference));
    const [revoked] = await listKeys(administration, reference);
    if (revoked === undefined) throw noSuchKey();
    return { body: await viewOf(database.kysely, revoked), revision: revoked.revision };
  });

  /**
   * A key that the caller may change.
   * @throws ApiError `forbidden` for one that the caller may only see, `not_found` for one that the caller may not see
   */
  async function writable(caller: Caller, id: string) {
    const [reach, [key]] = await fromDatabase(() =>
      Promise.all([keyReachOf(database.kysely, caller), listKeys(administration, { id })]),
    );
    if (key === undefined || !isWithin(key, reach.sees)) throw noSuchKey();
    if (!isWithin(key, reach.changes)) {
      throw new ApiError('forbidden', 'your role allows changes of your own keys only');
    }
    return { reach, key };
  }

  /** @throws ApiError `forbidden` for what only administrators may change a key to */
  async function assertChangeAllowed(
    key: StoredKey,
    settings: ChangedSettings,
    reach: KeyReach,
  ): Promise<void> {
    const { team, group } = { team: key.team, group: key.group, ...settings };
    const own = key.team === null ? [] : [{ name: key.team }];
    assertAllowed({ user: key.user, team }, key.user, [...reach.teams, ...own]);
    // What an administrator gave stays as long as the payer does.
    if (team === key.team && group === key.group) return;
    const payer = { userId: key.userId, team };
    assertGroup(group, await fromDatabase(() => groupsFor(database.kysely, payer)), team);
  }

  async function viewOf(db: Db, key: StoredKey) {
    const [view] = await viewsOf(db, [key]);
    if (view === undefined) throw noSuchKey();
    return view;
  }

  async function viewsOf(db: Db, keys: readonly StoredKey[]) {
    const spentByMeter = await spentOf(db, keys.map(meterOf));
    const uses = await lastUses(
      db,
      keys.map(({ id }) => id),
    );
    return keys.map((key) => ({
      id: key.id,
      prefix: key.prefix,
      ...showEntry(placeInFile)(kinds.key, key),
      spent: formatUsd(spentByMeter.get(meterOf(key)) ?? 0n),
      rotatable: key.hasSecret && key.secretOwner !== 'file' && key.revokedAt === null,
      last_used_at: asTime(uses.get(key.id)?.time ?? null),
      last_used_client: uses.get(key.id)?.client ?? null,
      revoked_at: asTime(key.revokedAt),
      previous_valid_until:
        key.previousUntil !== null && key.previousUntil > now() ? asTime(key.previousUntil) : null,
    }));
  }

  /** @throws ApiError `forbidden` for what only administrators may give a key */
  function assertAllowed(
    { user, team }: { readonly user: string; readonly team: string | null },
    own: string,
    teams: readonly { readonly name: string }[],
  ): void {
    if (!members.createKeys) {
      throw new ApiError('forbidden', 'only administrators make and change keys here');
    }
    if (user !== own) {
      throw new ApiError('forbidden', 'your role allows keys of your own only');
    }
    if (team !== null && !teams.some(({ name }) => name === team)) {
      throw new ApiError('forbidden', 'your role allows keys of your own teams only');
    }
  }
}

/** @throws ApiError `forbidden` */
function assertGroup(group: string, groups: readonly string[], team: string | null): void {
  if (groups.includes(group)) return;
  const whose = team === null ? 'you have' : `the team '${team}' has`;
  const list = groups.length === 0 ? 'no group' : `the groups ${groups.join(', ')}`;
  const message = `a key cannot be of the group '${group}': ${whose} ${list}`;
  throw new ApiError('forbidden', message, { fields: [{ path: 'group', message }] });
}

const noSuchKey = () => new ApiError('not_found', 'there is no such key');

function isWithin({ userId, teamId }: StoredKey, reach: Reach | undefined): boolean {
  if (reach === undefined || userId === reach.userId) return true;
  return teamId !== null && reach.teamIds.includes(teamId);
}

/** Milliseconds. @throws ApiError `invalid` */
function readGrace(requestedGrace: string | number = usualGrace): number {
  const grace = parseGrace(
    typeof requestedGrace === 'number' ? `${requestedGrace}s` : requestedGrace,
  );
  if (grace !== null) return grace;
  const message = `expected ${graceRule}`;
  throw new ApiError('invalid', `grace: ${message}`, { fields: [{ path: 'grace', message }] });
}

/** Counts for every key, also without a quota. */
const meterOf = ({ id }: StoredKey) => `key:${id}:quota`;

function asTime(milliseconds: number | null): string | null {
  return milliseconds === null ? null : new Date(milliseconds).toISOString();
}
