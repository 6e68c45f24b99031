import { kinds } from '#config/index.ts';
import { formatUsd, type OpenDatabase, parseUsd } from '#database/index.ts';
import {
  countUsableKeys,
  membersOfTeam,
  membersOfTeams,
  type StoredTeam,
} from '#identity/index.ts';
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
  return { listedOf, detailOf, membersOf };

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
        owners: owners.slice(0, mostOwners).map(({ user, name }) => ({ user, name })),
        usage: usage.get(view.id) ?? noUsage,
      };
    });
  }

  /** The same of one team, with how many keys act for it. */
  async function detailOf(db: Db, team: StoredTeam, hours: Hours) {
    const [view] = await listedOf(db, [team], hours);
    if (view === undefined) throw noSuchTeam();
    const keys = await countUsableKeys(db, 'team_id', [team.id], now());
    return { ...view, keys: keys.get(team.id) ?? 0 };
  }

  /** Who belongs to a team, with what each has of its money: the one who spent most first, then by address. */
  async function membersOf(
    db: Db,
    { id: team }: Pick<StoredTeam, 'id'>,
    hours: Hours,
    { search, after, limit = Infinity }: MembersPage = {},
  ) {
    const usage = await usageBy(db, 'user', hours, { team });
    const ordered = (await membersOfTeam(db, team, search))
      .map((member) => {
        const used = usage.get(member.id) ?? noUsage;
        return { ...member, usage: used, place: { cost: parseUsd(used.cost), user: member.user } };
      })
      .toSorted((a, b) => (isBefore(a.place, b.place) ? -1 : 1));
    const following =
      after === undefined ? ordered : ordered.filter(({ place }) => isBefore(after, place));
    const members = following.slice(0, limit);
    const meterOf = (id: string) => `team:${team}:member:${id}`;
    const limits = await readLimits(
      db,
      held,
      members.flatMap(({ id, budget }) =>
        budget === null ? [] : [{ meter: meterOf(id), limit: budget, window: null }],
      ),
    );
    return {
      data: members.map(({ place: _place, budget: _budget, ...member }) => ({
        ...member,
        limit: limits.get(meterOf(member.id)) ?? null,
      })),
      next: following.length > members.length ? (members.at(-1)?.place ?? null) : null,
    };
  }
}

/** Where a member stands in the list. */
export interface MemberPlace {
  /** Nano-USD. */
  readonly cost: bigint;
  readonly user: string;
}

export interface MembersPage {
  /** What the address or the name contains, in capitals or not. */
  readonly search?: string;
  /** The last one of the page before. */
  readonly after?: MemberPlace;
  /** Absent: all. */
  readonly limit?: number;
}

const isBefore = (a: MemberPlace, b: MemberPlace) =>
  a.cost === b.cost ? a.user < b.user : a.cost > b.cost;

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
