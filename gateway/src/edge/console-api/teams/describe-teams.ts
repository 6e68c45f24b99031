import { kinds } from '#config/index.ts';
import { formatUsd, type OpenDatabase, parseUsd } from '#database/index.ts';
import { countUsableKeys, membersOfTeams, namesOfUsers, type StoredTeam } from '#identity/index.ts';
import { balances, spansOf } from '#ledger/index.ts';
import { shownValues } from '../contract/members.ts';
import { ApiError } from '../errors.ts';
import { type Hours, noUsage, readLimits, usageBy } from '../limits.ts';
import type { DescriptionOptions } from '../users/describe-people.ts';
import { managementOf } from '../writes.ts';

type Db = OpenDatabase['kysely'];

/** So many stand in a list. */
const mostOwners = 5;

/** Shows teams with what is left of their budgets: for a list, and one alone with what its members did within some hours. */
export function createTeamDescriber({ held, placeInFile, now }: DescriptionOptions) {
  return { listedOf, detailOf };

  async function viewsOf(db: Db, teams: readonly StoredTeam[]) {
    const left = await balances(
      db,
      teams.map(({ id }) => `team:${id}` as const),
    );
    const budgets = new Map(teams.map((team) => [team.id, budgetsOf(team, now())]));
    const limits = await readLimits(db, held, [...budgets.values()].flat());
    return teams.map((team) => {
      const {
        budget,
        database_away: away,
        members: _,
        ...settings
      } = shownValues(kinds.team, team);
      return {
        id: team.id,
        ...settings,
        budget: budget as Record<string, string>,
        database_away: away as string | { up_to: string } | null,
        balance: formatUsd(left.get(`team:${team.id}`) ?? 0n),
        limits: (budgets.get(team.id) ?? []).flatMap(({ name, meter }) => {
          const limit = limits.get(meter);
          return limit === undefined ? [] : [{ name, ...limit }];
        }),
        ...managementOf(kinds.team, team, placeInFile),
      };
    });
  }

  /** With how many belong to it, and its owners, and what is paid by it. @param teams may be without their members */
  async function listedOf(db: Db, teams: readonly StoredTeam[], hours: Hours) {
    const belonging = await membersOfTeams(db, teams);
    const usage = await usageBy(db, 'team', hours);
    return (await viewsOf(db, teams)).map((view) => {
      const { count = 0, owners = [] } = belonging.get(view.id) ?? {};
      return {
        ...view,
        member_count: count,
        owners: owners.slice(0, mostOwners),
        usage: usage.get(view.id) ?? noUsage,
      };
    });
  }

  async function detailOf(db: Db, team: StoredTeam, hours: Hours) {
    const [view] = await viewsOf(db, [team]);
    if (view === undefined) throw noSuchTeam();
    const people = await namesOfUsers(
      db,
      team.members.map(({ user }) => user),
    );
    const belonging = team.members.flatMap(({ user, role }) => {
      const person = people.get(user);
      return person === undefined ? [] : [{ user, role, ...person }];
    });
    const keys = await countUsableKeys(db, 'team_id', [team.id], now());
    const usage = await usageBy(db, 'user', hours, { team: team.id });
    const total = (await usageBy(db, 'team', hours, { team: team.id })).get(team.id) ?? noUsage;
    const parts = new Map(team.members.map(({ user, budget }) => [user, budget]));
    const meterOf = (id: string) => `team:${team.id}:member:${id}`;
    const limits = await readLimits(
      db,
      held,
      belonging.flatMap(({ id, user }) => {
        const most = parts.get(user) ?? null;
        return most === null ? [] : [{ meter: meterOf(id), limit: parseUsd(most), window: null }];
      }),
    );
    const members = belonging.map((each) => ({
      ...each,
      limit: limits.get(meterOf(each.id)) ?? null,
      usage: usage.get(each.id) ?? noUsage,
    }));
    return { ...view, members, keys: keys.get(team.id) ?? 0, usage: total };
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

export const noSuchTeam = () => new ApiError('not_found', 'there is no such team');
