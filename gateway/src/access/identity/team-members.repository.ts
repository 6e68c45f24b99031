import type { DeclaredTeam } from '#config/index.ts';
import type { Kysely } from 'kysely';
import type { Change } from '#database/change.ts';
import { parseUsd } from '#database/money.ts';
import type { Database } from '#database/schema.ts';
import { groupsFromText } from './group-list.ts';

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
  const rows = await db
    .selectFrom('team_members')
    .innerJoin('teams', 'teams.id', 'team_members.team_id')
    .select(['teams.id', 'teams.name', 'team_members.role', 'teams.groups'])
    .where('team_members.user_id', '=', userId)
    .where('teams.enabled', '=', 1)
    .orderBy('teams.name')
    .execute();
  return rows.map(({ groups, ...row }) => ({ ...row, groups: groupsFromText(groups) }));
}

/**
 * Makes the members of a team exactly these; returns whether something changed.
 * @throws Error if a member is not a user.
 */
export async function replaceMembers(
  change: Change,
  team: { readonly id: string; readonly name: string },
  members: DeclaredTeam['members'],
): Promise<boolean> {
  const { trx } = change;
  const wanted = await Promise.all(members.map((member) => toRow(change, team, member)));
  const existing = await trx
    .selectFrom('team_members')
    .select(['team_id', 'user_id', 'role', 'budget'])
    .where('team_id', '=', team.id)
    .execute();
  if (equal(wanted, existing)) return false;

  const revision = await change.revision();
  await trx.deleteFrom('team_members').where('team_id', '=', team.id).execute();
  if (wanted.length > 0) {
    await trx
      .insertInto('team_members')
      .values(wanted.map((row) => ({ ...row, revision })))
      .execute();
  }
  return true;
}

interface Row {
  readonly team_id: string;
  readonly user_id: string;
  readonly role: string;
  readonly budget: bigint | null;
}

async function toRow(
  { trx }: Change,
  team: { readonly id: string; readonly name: string },
  member: DeclaredTeam['members'][number],
): Promise<Row> {
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
    budget: member.budget === null ? null : parseUsd(member.budget),
  };
}

function equal(left: readonly Row[], right: readonly Row[]): boolean {
  const texts = (rows: readonly Row[]) =>
    rows.map((row) => `${row.user_id} ${row.role} ${row.budget}`).toSorted();
  return texts(left).join('\n') === texts(right).join('\n');
}
