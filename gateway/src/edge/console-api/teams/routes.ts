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
import { findTeam, listTeams, namesOfUsers, type StoredTeam } from '#identity/index.ts';
import { balances, spansOf } from '#ledger/index.ts';
import { ownedTeams } from '#usage/index.ts';
import { contract } from '../contract/index.ts';
import { shownValues } from '../contract/members.ts';
import { ApiError } from '../errors.ts';
import { fromDatabase } from '../from-database.ts';
import { type Hours, noUsage, readLimits, usageBy } from '../limits.ts';
import { type ApiCall, serveRoute } from '../serve-route.ts';
import { type Caller, personOf } from '../sessions/caller.ts';
import { hoursOf } from '../usage/filter.ts';
import type { PeopleOptions } from '../users/routes.ts';
import { callOf, managementOf, pageOf, revisionIn, revisionOf } from '../writes.ts';

type Db = OpenDatabase['kysely'];

const { team: kind } = kinds;

/** Teams, with what is left of their budgets. Owners see theirs, and say who belongs to them. */
export function teamRoutes(scope: FastifyInstance, options: PeopleOptions): void {
  const { writerOf, database, reads, held, placeInFile, now } = options;

  serveRoute(scope, contract.listTeams, options, async ({ query, caller }) =>
    reads(async (db) => {
      const { limit, ...filter } = pageOf(query);
      const owned = await ownedBy(db, caller);
      const found = await listTeams(db, {
        ...filter,
        limit: limit + 1,
        ...(owned !== null && { ids: owned }),
      });
      const teams = found.slice(0, limit);
      const next = found.length > limit ? (teams.at(-1)?.name ?? null) : null;
      const usage = await usageBy(db, 'team', hoursOf(query, now()));
      const views = await viewsOf(db, teams);
      return {
        body: {
          data: views.map((view) => ({ ...view, usage: usage.get(view.id) ?? noUsage })),
          next,
        },
      };
    }),
  );

  serveRoute(scope, contract.readTeam, options, async ({ parameters, query, caller }) =>
    reads(async (db) =>
      replyOf(db, await knownTeam(db, caller, parameters.id), hoursOf(query, now())),
    ),
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

  async function replyOf(db: Db, team: StoredTeam, hours: Hours = hoursOf({}, now())) {
    const [view] = await viewsOf(db, [team]);
    if (view === undefined) throw noSuchTeam();
    const usage = await usageBy(db, 'user', hours, team.id);
    const total = (await usageBy(db, 'team', hours, team.id)).get(team.id) ?? noUsage;
    const parts = new Map(team.members.map(({ user, budget }) => [user, budget]));
    const meterOf = (id: string) => `team:${team.id}:member:${id}`;
    const limits = await readLimits(
      db,
      held,
      view.members.flatMap(({ id, user }) => {
        const most = parts.get(user) ?? null;
        return most === null ? [] : [{ meter: meterOf(id), limit: parseUsd(most), window: null }];
      }),
    );
    const members = view.members.map((each) => ({
      ...each,
      limit: limits.get(meterOf(each.id)) ?? null,
      usage: usage.get(each.id) ?? noUsage,
    }));
    return { body: { ...view, members, usage: total }, revision: team.revision };
  }

  async function viewsOf(db: Db, teams: readonly StoredTeam[]) {
    const left = await balances(
      db,
      teams.map(({ id }) => `team:${id}` as const),
    );
    const people = await namesOfUsers(
      db,
      teams.flatMap(({ members }) => members.map(({ user }) => user)),
    );
    const budgets = new Map(teams.map((team) => [team.id, budgetsOf(team, now())]));
    const limits = await readLimits(db, held, [...budgets.values()].flat());
    return teams.map((team) => {
      const { budget, database_away: away, ...members } = shownValues(kind, team);
      return {
        id: team.id,
        ...members,
        budget: budget as Record<string, string>,
        database_away: away as string | { up_to: string } | null,
        balance: formatUsd(left.get(`team:${team.id}`) ?? 0n),
        limits: (budgets.get(team.id) ?? []).flatMap(({ name, meter }) => {
          const limit = limits.get(meter);
          return limit === undefined ? [] : [{ name, ...limit }];
        }),
        members: team.members.flatMap(({ user, role }) => {
          const person = people.get(user);
          return person === undefined ? [] : [{ user, role, ...person }];
        }),
        enabled: team.enabled,
        ...managementOf(kind, team, placeInFile),
      };
    });
  }
}

/** The budgets of a team that are set, with their meters and windows. */
export function budgetsOf({ id, budget, clock }: StoredTeam, now: number) {
  const spans = { ...spansOf(clock, now), total: null };
  return (['daily', 'monthly', 'total'] as const).flatMap((name) => {
    const most = budget[name];
    const window = spans[name];
    const meter = `team:${id}:${name}${window === null ? '' : `:${window.name}`}`;
    return most === null ? [] : [{ name, meter, limit: parseUsd(most), window }];
  });
}

const noSuchTeam = () => new ApiError('not_found', 'there is no such team');

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
  const team = await findTeam(db, reference);
  const owned = caller.session === null ? [] : await ownedTeams(db, caller.session.user.id);
  const isOwn = team !== null && owned.includes(team.id);
  if (team === null || !(isOwn || caller.permissions.includes('users.read'))) throw noSuchTeam();
  if (to === 'change' && !isOwn && !caller.permissions.includes('users.write')) {
    throw new ApiError('forbidden', 'your role allows changes of your own teams only');
  }
  return team;
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
