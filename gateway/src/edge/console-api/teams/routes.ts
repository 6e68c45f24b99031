import type { FastifyInstance } from 'fastify';
import {
  changeEntry,
  changeMember,
  createEntry,
  type MemberChange,
  teamStore,
} from '#administration/index.ts';
import { kinds } from '#config/index.ts';
import { formatUsd, type OpenDatabase, parseUsd } from '#database/index.ts';
import { findTeam, listTeams, type StoredTeam } from '#identity/index.ts';
import { ownedTeams } from '#usage/index.ts';
import { contract } from '../contract/index.ts';
import { ApiError } from '../errors.ts';
import { fromDatabase } from '../from-database.ts';
import { type ApiCall, serveRoute } from '../serve-route.ts';
import { type Caller, personOf } from '../sessions/caller.ts';
import { exactRange } from '../usage/filter.ts';
import type { PeopleOptions } from '../users/routes.ts';
import { createTeamDescriber, type MemberPlace, noSuchTeam } from './describe-teams.ts';
import { callOf, pageOf, revisionIn, revisionOf } from '../writes.ts';

type Db = OpenDatabase['kysely'];

const { team: kind } = kinds;

/** Teams, with what is left of their budgets. Owners see theirs, and say who belongs to them. */
export function teamRoutes(scope: FastifyInstance, options: PeopleOptions): void {
  const { writerOf, database, reads, now } = options;
  const { listedOf, detailOf, membersOf } = createTeamDescriber(options);

  const replyOf = async (db: Db, team: StoredTeam, hours = exactRange({}, now())) => ({
    body: await detailOf(db, team, hours),
    revision: team.revision,
  });

  serveRoute(scope, contract.listTeams, options, async ({ query, caller }) =>
    reads(async (db) => {
      const { limit, ...filter } = pageOf(query);
      const owned = await ownedBy(db, caller);
      const found = await listTeams(db, {
        ...filter,
        limit: limit + 1,
        members: 'left-out',
        ...(owned !== null && { ids: owned }),
      });
      const teams = found.slice(0, limit);
      const next = found.length > limit ? (teams.at(-1)?.name ?? null) : null;
      return { body: { data: await listedOf(db, teams, exactRange(query, now())), next } };
    }),
  );

  serveRoute(scope, contract.readTeam, options, async ({ parameters, query, caller }) =>
    reads(async (db) =>
      replyOf(db, await knownTeam(db, caller, parameters.id), exactRange(query, now())),
    ),
  );

  serveRoute(scope, contract.listMembers, options, async ({ parameters, query, caller }) =>
    reads(async (db) => {
      const { after: cursor, ...page } = pageOf(query);
      const after = cursor === undefined ? {} : { after: readPlace(cursor) };
      const team = await knownTeam(db, caller, parameters.id);
      const { data, next } = await membersOf(db, team, exactRange(query, now()), {
        ...page,
        ...after,
      });
      return { body: { data, next: next === null ? null : `${next.cost}_${next.user}` } };
    }),
  );

  const write = writerOf<StoredTeam>(
    kind,
    async (team) => (await replyOf(database.kysely, team)).body,
  );

  serveRoute(scope, contract.createTeam, options, async (call) => {
    const { request, body, caller } = call;
    const repeatable = callOf(request, caller);
    const team = await write(call, body.name, (...by) =>
      createEntry(...by, teamStore, body, repeatable),
    );
    return fromDatabase(() => replyOf(database.kysely, team));
  });

  serveRoute(scope, contract.changeTeam, options, async (call) => {
    const revision = revisionOf(call.request);
    const { id, name } = await changeable(call.caller, call.parameters.id);
    const change = { id, revision, members: call.body };
    const team = await write(call, name, (...by) => changeEntry(...by, teamStore, change));
    return fromDatabase(() => replyOf(database.kysely, team));
  });

  serveRoute(scope, contract.putMember, options, async (call) => {
    const { role = 'member', budget = null } = call.body;
    return member(call, { role, budget: budget === null ? null : readAmount(budget) });
  });

  serveRoute(scope, contract.removeMember, options, (call) => member(call, null));

  async function member(
    call: Pick<ApiCall<typeof contract.removeMember>, 'request' | 'caller' | 'parameters'>,
    toBe: MemberChange['member'],
  ) {
    const revision = revisionIn(call.request);
    const { id, name } = await changeable(call.caller, call.parameters.id);
    const change = { id, revision, user: call.parameters.user, member: toBe };
    const team = await write(call, name, (...by) => changeMember(...by, change));
    return fromDatabase(() => replyOf(database.kysely, team));
  }

  /** A team whose members the caller may change. @throws ApiError `not_found`, and `forbidden` */
  const changeable = (caller: Caller, reference: string) =>
    fromDatabase(() => knownTeam(database.kysely, caller, reference, 'change'));
}

/** The ids of the teams that the caller sees; null: all of them. */
async function ownedBy(db: Db, caller: Caller): Promise<readonly string[] | null> {
  return caller.permissions.includes('users.read') ? null : ownedTeams(db, personOf(caller).id);
}

/**
 * A team that the caller sees.
 * @param reference an id, or a name
 * @param to `change`: the caller changes who belongs to it
 * @throws ApiError `not_found`, and `forbidden` for one that the caller only sees
 */
async function knownTeam(
  db: Db,
  caller: Caller,
  reference: string,
  to: 'see' | 'change' = 'see',
): Promise<StoredTeam> {
  const team = await findTeam(db, reference, { members: 'left-out' });
  const owned = caller.session === null ? [] : await ownedTeams(db, caller.session.user.id);
  const isOwn = team !== null && owned.includes(team.id);
  if (team === null || !(isOwn || caller.permissions.includes('users.read'))) throw noSuchTeam();
  if (to === 'change' && !isOwn && !caller.permissions.includes('users.write')) {
    throw new ApiError('forbidden', 'your role allows changes of your own teams only');
  }
  return team;
}

/** @throws ApiError `invalid` */
function readPlace(cursor: string): MemberPlace {
  const [, cost, user] = /^(\d{1,19})_(.+)$/.exec(cursor) ?? [];
  if (cost !== undefined && user !== undefined) return { cost: BigInt(cost), user };
  const message = 'expected the next of a page before';
  throw new ApiError('invalid', `cursor: ${message}`, { fields: [{ path: 'cursor', message }] });
}

/** Decimal text in its shortest form. @throws ApiError `invalid` */
function readAmount(text: string): string {
  try {
    const amount = parseUsd(text);
    if (amount >= 0n) return formatUsd(amount);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  const message = 'expected an amount in USD with at most nine decimals, not below 0';
  throw new ApiError('invalid', `budget: ${message}`, { fields: [{ path: 'budget', message }] });
}
