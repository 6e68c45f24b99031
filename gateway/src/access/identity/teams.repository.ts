import type { Kysely, Selectable } from 'kysely';
import type { DeclaredTeam } from '#config/index.ts';
import { assertMayChange, type Change, type Upserted } from '#database/change.ts';
import { formatUsd, parseUsd } from '#database/money.ts';
import { bit, createId, differs, ownedFields, type Stored } from '#database/rows.ts';
import type { Database, TeamTable } from '#database/schema.ts';
import { changeZone, openAccount, type WindowClock } from '#ledger/index.ts';
import { groupsFromText, groupsToText } from './group-list.ts';
import { replaceMembers } from './team-members.repository.ts';

export type StoredTeam = Stored<DeclaredTeam> & { readonly id: string };

/** All teams with their members, by name, including disabled ones. */
export async function listTeams(db: Kysely<Database>): Promise<StoredTeam[]> {
  const teams = await db.selectFrom('teams').selectAll().orderBy('name').execute();
  const members = await db
    .selectFrom('team_members')
    .innerJoin('users', 'users.id', 'team_members.user_id')
    .select(['team_id', 'users.email', 'team_members.role', 'budget'])
    .orderBy('users.email')
    .execute();
  const byTeam = Map.groupBy(members, (member) => member.team_id);
  return teams.map((row) => ({
    ...toTeam(row),
    members: (byTeam.get(row.id) ?? []).map((member) => ({
      user: member.email,
      role: member.role as DeclaredTeam['members'][number]['role'],
      budget: orNull(member.budget, formatUsd),
    })),
  }));
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
  const { trx, owner, now } = change;
  const values = {
    rpm: team.rpm,
    budget_daily: orNull(team.budget.daily, parseUsd),
    budget_monthly: orNull(team.budget.monthly, parseUsd),
    budget_total: orNull(team.budget.total, parseUsd),
    groups: groupsToText(team.groups),
    owner,
    enabled: bit(true),
  };
  const existing = await find(trx, team.name);
  if (existing === undefined) {
    const id = createId('team');
    const credit = parseUsd(team.balance);
    await trx
      .insertInto('teams')
      .values({
        ...values,
        time_zone: team.timeZone,
        id,
        name: team.name,
        opening_credit: credit,
        created_at: now,
        updated_at: now,
        revision: await change.revision(),
      })
      .execute();
    await openAccount(change, `team:${id}`, credit);
    await replaceMembers(change, { id, name: team.name }, team.members);
    return 'created';
  }
  assertMayChange(change, 'team', team.name, existing.owner);
  const membersChanged = await replaceMembers(change, existing, team.members);
  const clock = clockColumns(changeZone(windowClockOf(existing), team.timeZone, now));
  if (!membersChanged && !differs(existing, { ...values, ...clock })) return 'unchanged';
  await update(change, team.name, { ...values, ...clock });
  return 'updated';
}

/** False if it does not exist or is already disabled. */
export async function disableTeam(change: Change, name: string): Promise<boolean> {
  const existing = await find(change.trx, name);
  if (existing === undefined || existing.enabled === 0) return false;
  assertMayChange(change, 'team', name, existing.owner);
  await update(change, name, { enabled: 0 });
  return true;
}

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

async function update(change: Change, name: string, values: object): Promise<void> {
  await change.trx
    .updateTable('teams')
    .set({ ...values, updated_at: change.now, revision: await change.revision() })
    .where('name', '=', name)
    .execute();
}

function toTeam(row: Selectable<TeamTable>) {
  return {
    id: row.id,
    name: row.name,
    balance: formatUsd(row.opening_credit),
    rpm: row.rpm,
    budget: {
      daily: orNull(row.budget_daily, formatUsd),
      monthly: orNull(row.budget_monthly, formatUsd),
      total: orNull(row.budget_total, formatUsd),
    },
    timeZone: row.time_zone,
    groups: groupsFromText(row.groups),
    ...ownedFields(row),
  };
}

function orNull<From, To>(value: From | null, convert: (value: From) => To): To | null {
  return value === null ? null : convert(value);
}
