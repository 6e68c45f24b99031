import { kinds } from '#config/index.ts';
import { findTeam, type StoredTeam, upsertTeam } from '#identity/index.ts';
import type { Actor } from './audit.ts';
import { changeSeen, type EntryStore, type SeenEntry } from './entries.ts';
import type { Administration } from './perform.ts';
import { knownUser, Refusal } from './refusal.ts';

/** Teams that the console manages. */
export const teamStore: EntryStore<typeof kinds.team, StoredTeam> = {
  kind: kinds.team,
  find: ({ trx }, reference) => findTeam(trx, reference),
  upsert: upsertTeam,
};

export interface MemberChange extends SeenEntry {
  /** The person's id or e-mail address. */
  readonly user: string;
  /** What the person is in the team from now on; null: no member. */
  readonly member: Pick<StoredTeam['members'][number], 'role' | 'budget'> | null;
}

/**
 * Makes a person a member of a team, changes what the member may, or ends the membership.
 * @throws Refusal for a team or a person that does not exist, a disabled person who is to become a member, and a team of
 *   the file; Stale
 */
export function changeMember(
  administration: Administration,
  actor: Actor,
  { user: reference, member, ...seen }: MemberChange,
): Promise<StoredTeam> {
  return changeSeen(administration, actor, teamStore, seen, async (change, before) => {
    const user = await knownUser(change, reference);
    const others = before.members.filter((each) => each.user !== user.email);
    if (member !== null && !user.enabled && others.length === before.members.length) {
      throw new Refusal('state', `user '${user.email}' is disabled`);
    }
    const members = member === null ? others : [...others, { user: user.email, ...member }];
    await upsertTeam(change, { ...before, members });
  });
}
