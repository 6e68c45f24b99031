import { type Kysely, type Selectable, sql } from 'kysely';
import { type DeclaredTeam, kinds } from '#config/index.ts';
import type { Change, Upserted } from '#database/change.ts';
import { containing } from '#database/expressions.ts';
import { formatUsd, parseUsd } from '#database/money.ts';
import {
  columnsOf,
  createId,
  disableRow,
  entryOf,
  type Stored,
  updateRow,
  upsertRow,
} from '#database/rows.ts';
import type { Database, TeamTable } from '#database/schema.ts';
import { changeZone, openAccount, type WindowClock } from '#ledger/index.ts';
import { namedLike } from './users.repository.ts';

export type StoredTeam = Stored<DeclaredTeam> & {
  readonly id: string;
  /** Of its budgets. */
  readonly clock: WindowClock;
};

export interface TeamFilter {
  readonly ids?: readonly string[];
  /** What the name contains, in capitals or not. */
  readonly search?: string;
  /** Only teams after this name, for the next page. */
  readonly after?: string;
  readonly limit?: number;
  /** Teams can have thousands. Absent: they are read too. */
  readonly members?: 'left-out';
}

/** Teams with their members, by name, including disabled ones. */
export async function listTeams(
  db: Kysely<Database>,
  { ids, search, after, limit, members: wanted }: TeamFilter = {},
): Promise<StoredTeam[]> {
  if (ids?.length === 0) return [];
  let query = db.selectFrom('teams').selectAll().orderBy('name');
  if (ids !== undefined) query = query.where('id', 'in', ids);
  if (search !== undefined) query = query.where(containing(sql.ref('name'), search));
  if (after !== undefined) query = query.where('name', '>', after);
  if (limit !== undefined) query = query.limit(limit);
  const teams = await query.execute();
  if (teams.length === 0) return [];
  const isPart = ids !== undefined || limit !== undefined;
  const members =
    wanted === 'left-out'
      ? []
      : await db
          .selectFrom('team_members')
          .innerJoin('users', 'users.id', 'team_members.user_id')
          .select(['team_id', 'users.email', 'team_members.role', 'budget'])
          .$if(isPart, (all) => all.where('team_id', 'in', idsOf(teams)))
          .orderBy('users.email')
          .execute();
  const byTeam = Map.groupBy(members, (member) => member.team_id);
  return teams.map((row) => ({
    id: row.id,
    ...entryOf(kinds.team, row),
    budget: {
      daily: orNull(row.budget_daily, formatUsd),
      monthly: orNull(row.budget_monthly, formatUsd),
      total: orNull(row.budget_total, formatUsd),
    },
    databaseAway: orNull(row.unleased_most, (amount) => ({ upTo: formatUsd(amount) })),
    timeZone: row.time_zone,
    clock: windowClockOf(row),
    members: (byTeam.get(row.id) ?? []).map((member) => ({
      user: member.email,
      role: member.role as DeclaredTeam['members'][number]['role'],
      budget: orNull(member.budget, formatUsd),
    })),
  }));
}

const idsOf = (teams: readonly { readonly id: string }[]) => teams.map(({ id }) => id);

/** How many belong to each of these teams, and who owns it, by address; a team without members is absent. */
export async function membersOfTeams(
  db: Kysely<Database>,
  teams: readonly { readonly id: string }[],
) {
  if (teams.length === 0) return new Map<string, never>();
  const counts = await db
    .selectFrom('team_members')
    .select(({ fn }) => ['team_id', fn.countAll<number>().as('count')])
    .where('team_id', 'in', idsOf(teams))
    .groupBy('team_id')
    .execute();
  const owners = await db
    .selectFrom('team_members')
    .innerJoin('users', 'users.id', 'team_members.user_id')
    .select(['team_id', 'email as user', 'name'])
    .where('team_id', 'in', idsOf(teams))
    .where('team_members.role', '=', 'owner')
    .orderBy('email')
    .execute();
  const byTeam = Map.groupBy(owners, ({ team_id: id }) => id);
  return new Map(
    counts.map(({ team_id: id, count }) => [id, { count, owners: byTeam.get(id) ?? [] }]),
  );
}

/** The people of a team, by address. @param search what the address or the name contains, in capitals or not */
export async function membersOfTeam(db: Kysely<Database>, teamId: string, search?: string) {
  let query = db
    .selectFrom('team_members')
    .innerJoin('users', 'users.id', 'team_members.user_id')
    .select(['users.id', 'email', 'name', 'enabled', 'team_members.role', 'budget'])
    .where('team_id', '=', teamId)
    .orderBy('email');
  if (search !== undefined) query = query.where(namedLike(search));
  return (await query.execute()).map(({ email, enabled, ...member }) => ({
    ...member,
    user: email,
    enabled: enabled === 1,
  }));
}

/** @param reference an id, otherwise a name */
export async function findTeam(
  db: Kysely<Database>,
  reference: string,
  { members }: Pick<TeamFilter, 'members'> = {},
): Promise<StoredTeam | null> {
  const row =
    (await db.selectFrom('teams').select('id').where('id', '=', reference).executeTakeFirst()) ??
    (await db.selectFrom('teams').select('id').where('name', '=', reference).executeTakeFirst());
  if (row === undefined) return null;
  return (await listTeams(db, { ids: [row.id], ...(members && { members }) }))[0] ?? null;
}

/** A team with the most that it may spend; null: no limit. Nano-USD. */
export interface TeamBudgets {
  readonly id: string;
  readonly name: string;
  readonly clock: WindowClock;
  readonly daily: bigint | null;
  readonly monthly: bigint | null;
  readonly total: bigint | null;
}

/** Teams that are in use and have budgets. @param ids absent: all */
export async function teamBudgets(
  db: Kysely<Database>,
  ids?: readonly string[],
): Promise<TeamBudgets[]> {
  if (ids?.length === 0) return [];
  let query = db
    .selectFrom('teams')
    .selectAll()
    .where('enabled', '=', 1)
    .where((where) =>
      where.or([
        where('budget_daily', 'is not', null),
        where('budget_monthly', 'is not', null),
        where('budget_total', 'is not', null),
      ]),
    );
  if (ids !== undefined) query = query.where('id', 'in', ids);
  const rows = await query.orderBy('name').execute();
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    clock: windowClockOf(row),
    daily: row.budget_daily,
    monthly: row.budget_monthly,
    total: row.budget_total,
  }));
}

/**
 * Creates or changes the team with this name and makes its members exactly the given ones. The opening credit applies
 * only at creation.
 * @throws OwnedElsewhere if the team has another owner; Error if a member does not exist.
 */
export async function upsertTeam(change: Change, team: DeclaredTeam): Promise<Upserted> {
  const { trx, now } = change;
  const { name, timeZone, budget, databaseAway, members } = team;
  const existing = await find(trx, name);
  const clock =
    existing === undefined
      ? { time_zone: timeZone }
      : clockColumns(changeZone(windowClockOf(existing), timeZone, now));
  const columns = {
    ...columnsOf(kinds.team, team),
    budget_daily: orNull(budget.daily, parseUsd),
    budget_monthly: orNull(budget.monthly, parseUsd),
    budget_total: orNull(budget.total, parseUsd),
    unleased_most: orNull(databaseAway, ({ upTo }) => parseUsd(upTo)),
    ...clock,
  };
  const id = existing?.id ?? createId('team');
  const { outcome } = await upsertRow(change, kinds.team, { name, columns, created: { id } });
  if (existing === undefined) await openAccount(change, `team:${id}`, columns.opening_credit);
  const isChanged = await replaceMembers(change, { id, name }, members);
  if (outcome !== 'unchanged' || !isChanged) return outcome;
  await updateRow(change, kinds.team, name, {});
  return 'updated';
}

/** Ends all memberships of a user; returns their number. */
export async function leaveTeams(change: Change, userId: string): Promise<number> {
  const teams = await membershipsOf(change.trx, userId);
  await change.trx.deleteFrom('team_members').where('user_id', '=', userId).execute();
  for (const { name } of teams) await updateRow(change, kinds.team, name, {});
  return teams.length;
}

/** False if it does not exist or is already disabled. */
export const disableTeam = async (change: Change, name: string): Promise<boolean> =>
  (await disableRow(change, kinds.team, name)) !== null;

type ClockColumns = Pick<Selectable<TeamTable>, 'time_zone' | 'open_window' | 'open_window_zone'>;

/** The clock of a team's days and months; see `ledger/windows.ts`. */
export function windowClockOf(row: ClockColumns): WindowClock {
  const { time_zone: timeZone, open_window: date, open_window_zone: zone } = row;
  const openWindow = date === null || zone === null ? null : { date, timeZone: zone };
  return { timeZone, openWindow };
}

function clockColumns({ timeZone, openWindow }: WindowClock): ClockColumns {
  return {
    time_zone: timeZone,
    open_window: openWindow?.date ?? null,
    open_window_zone: openWindow?.timeZone ?? null,
  };
}

function find(db: Kysely<Database>, name: string) {
  return db.selectFrom('teams').selectAll().where('name', '=', name).executeTakeFirst();
}

/** A team that somebody belongs to. */
export interface Membership {
  readonly id: string;
  readonly name: string;
  readonly role: string;
  /** Those that its members may give keys that act for it. */
  readonly groups: readonly string[];
}

/** The teams of a person, by name, without disabled ones. */
export async function membershipsOf(db: Kysely<Database>, userId: string): Promise<Membership[]> {
  return (await membershipsOfEach(db, [userId])).get(userId) ?? [];
}

/** The same of several people, by their ids. */
export async function membershipsOfEach(
  db: Kysely<Database>,
  userIds: readonly string[],
): Promise<ReadonlyMap<string, Membership[]>> {
  if (userIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('team_members')
    .innerJoin('teams', 'teams.id', 'team_members.team_id')
    .select(['user_id', 'teams.id', 'teams.name', 'team_members.role', 'teams.groups'])
    .where('team_members.user_id', 'in', userIds)
    .where('teams.enabled', '=', 1)
    .orderBy('teams.name')
    .execute();
  const byUser = Map.groupBy(rows, ({ user_id: userId }) => userId);
  return new Map(
    Array.from(byUser, ([userId, all]) => [
      userId,
      all.map(({ id, name, role, groups }) => ({
        id,
        name,
        role,
        groups: JSON.parse(groups) as readonly string[],
      })),
    ]),
  );
}

/**
 * Makes the members of a team exactly these; returns whether something changed.
 * @throws Error if a member is not a user.
 */
async function replaceMembers(
  change: Change,
  team: { readonly id: string; readonly name: string },
  members: DeclaredTeam['members'],
): Promise<boolean> {
  const { trx } = change;
  const declaredRows = await Promise.all(
    members.map((member) => toMemberRow(change, team, member)),
  );
  const existing = await trx
    .selectFrom('team_members')
    .select(['team_id', 'user_id', 'role', 'budget'])
    .where('team_id', '=', team.id)
    .execute();
  if (isSame(declaredRows, existing)) return false;

  const revision = await change.revision();
  await trx.deleteFrom('team_members').where('team_id', '=', team.id).execute();
  if (declaredRows.length > 0) {
    await trx
      .insertInto('team_members')
      .values(declaredRows.map((row) => ({ ...row, revision })))
      .execute();
  }
  return true;
}

interface MemberRow {
  readonly team_id: string;
  readonly user_id: string;
  readonly role: string;
  readonly budget: bigint | null;
}

async function toMemberRow(
  { trx }: Change,
  team: { readonly id: string; readonly name: string },
  member: DeclaredTeam['members'][number],
): Promise<MemberRow> {
  const user = await trx
    .selectFrom('users')
    .select('id')
    .where('email', '=', member.user.trim().toLowerCase())
    .executeTakeFirst();
  if (user === undefined) {
    throw new Error(`team '${team.name}': user '${member.user}' does not exist`);
  }
  return {
    team_id: team.id,
    user_id: user.id,
    role: member.role,
    budget: orNull(member.budget, parseUsd),
  };
}

function isSame(left: readonly MemberRow[], right: readonly MemberRow[]): boolean {
  const texts = (rows: readonly MemberRow[]) =>
    rows.map((row) => `${row.user_id} ${row.role} ${row.budget}`).toSorted();
  return texts(left).join('\n') === texts(right).join('\n');
}

function orNull<From, To>(value: From | null, convert: (value: From) => To): To | null {
  return value === null ? null : convert(value);
}
