import type { Kysely } from 'kysely';
import type { Database } from '#database/schema.ts';
import { fundingOf, type HolderAccount } from '#ledger/index.ts';
import type { CallerTeam, CallerUser } from './caller.ts';
import { windowClockOf } from './teams.repository.ts';

/** The users and teams behind keys, each read once and kept as one object. */
export interface Holders {
  /** Reads the holders of these keys that are missing. */
  load(keys: readonly KeyHolders[]): Promise<void>;
  /** @throws Error if it was not loaded. */
  user(id: string): CallerUser;
  team(id: string): CallerTeam;
  memberBudget(team: string, user: string): bigint | null;
  /** If a team names members, only their keys may spend its money; otherwise whoever creates keys decides. */
  mayAct(team: string, user: string): boolean;
}

interface KeyHolders {
  readonly user_id: string;
  readonly team_id: string | null;
}

/** For callers that are read together and share holders. */
export function createHolders(db: Kysely<Database>): Holders {
  const users = new Map<string, CallerUser>();
  const teams = new Map<string, CallerTeam>();
  /** `<team> <user>`: every member, with a budget or none. */
  const members = new Map<string, bigint | null>();
  const teamsWithMembers = new Set<string>();

  async function loadUsers(ids: readonly string[]): Promise<void> {
    const rows = await db
      .selectFrom('users')
      .select(['id', 'quota'])
      .where('id', 'in', ids)
      .execute();
    const funding = await fundingOf(db, rows.map(accountOf('user')));
    for (const { id, quota } of rows) {
      users.set(id, Object.freeze({ id, quota, funding: funding.get(`user:${id}`) ?? 0n }));
    }
  }

  async function loadTeams(ids: readonly string[]): Promise<void> {
    const rows = await db.selectFrom('teams').selectAll().where('id', 'in', ids).execute();
    const funding = await fundingOf(db, rows.map(accountOf('team')));
    for (const row of rows) {
      const team: CallerTeam = {
        id: row.id,
        name: row.name,
        enabled: row.enabled === 1,
        funding: funding.get(`team:${row.id}`) ?? 0n,
        rpm: row.rpm,
        dailyBudget: row.budget_daily,
        monthlyBudget: row.budget_monthly,
        totalBudget: row.budget_total,
        unleasedMost: row.unleased_most,
        ...windowClockOf(row),
      };
      teams.set(row.id, Object.freeze(team));
    }
    const memberRows = await db
      .selectFrom('team_members')
      .select(['team_id', 'user_id', 'budget'])
      .where('team_id', 'in', ids)
      .execute();
    for (const { team_id, user_id, budget } of memberRows) {
      members.set(`${team_id} ${user_id}`, budget);
      teamsWithMembers.add(team_id);
    }
  }

  return {
    async load(keys) {
      const newUsers = new Set(keys.map(({ user_id }) => user_id));
      const newTeams = new Set(keys.flatMap(({ team_id }) => team_id ?? []));
      for (const id of users.keys()) newUsers.delete(id);
      for (const id of teams.keys()) newTeams.delete(id);
      if (newUsers.size > 0) await loadUsers([...newUsers]);
      if (newTeams.size > 0) await loadTeams([...newTeams]);
    },
    user: (id) => valueOf(users, id),
    team: (id) => valueOf(teams, id),
    memberBudget: (team, user) => members.get(`${team} ${user}`) ?? null,
    mayAct: (team, user) => !teamsWithMembers.has(team) || members.has(`${team} ${user}`),
  };
}

function accountOf(kind: 'user' | 'team') {
  return ({ id }: { readonly id: string }): HolderAccount => `${kind}:${id}`;
}

function valueOf<Value>(values: ReadonlyMap<string, Value>, id: string): Value {
  const value = values.get(id);
  if (value === undefined) throw new Error(`'${id}' was not loaded`);
  return value;
}
