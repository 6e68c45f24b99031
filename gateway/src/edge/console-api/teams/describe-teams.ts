import { kinds } from '#config/index.ts';
import { formatUsd, type OpenDatabase, parseUsd } from '#database/index.ts';
import { namesOfUsers, type StoredTeam } from '#identity/index.ts';
import { balances, spansOf } from '#ledger/index.ts';
import { shownValues } from '../contract/members.ts';
import { ApiError } from '../errors.ts';
import { type Hours, noUsage, readLimits, usageBy } from '../limits.ts';
import type { DescriptionOptions } from '../users/describe-people.ts';
import { managementOf } from '../writes.ts';

type Db = OpenDatabase['kysely'];

/** Shows teams with what is left of their budgets: for a list, and one alone with what its members did within some hours. */
export function createTeamDescriber({ held, placeInFile, now }: DescriptionOptions) {
  return { viewsOf, detailOf };

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
      const { budget, database_away: away, ...members } = shownValues(kinds.team, team);
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
        ...managementOf(kinds.team, team, placeInFile),
      };
    });
  }

  async function detailOf(db: Db, team: StoredTeam, hours: Hours) {
    const [view] = await viewsOf(db, [team]);
    if (view === undefined) throw noSuchTeam();
    const usage = await usageBy(db, 'user', hours, { team: team.id });
    const total = (await usageBy(db, 'team', hours, { team: team.id })).get(team.id) ?? noUsage;
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
    return { ...view, members, usage: total };
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
