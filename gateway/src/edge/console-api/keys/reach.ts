import { membershipsOf, type Rank, type Reach, type StoredKey } from '#identity/index.ts';
import type { OpenDatabase } from '#database/index.ts';
import type { SignedInCaller } from '../sessions/guard.ts';

/** What a person may do with keys. */
export interface KeyReach {
  /** Undefined: the keys of everybody. */
  readonly sees: Reach | undefined;
  readonly changes: Reach | undefined;
  /** Names of the teams that the person belongs to. */
  readonly teams: readonly string[];
  readonly rankOver: (key: Pick<StoredKey, 'teamId'>) => Rank;
}

/** People have to do with their own keys, owners of a team also with the team's, and some roles with all of them. */
export async function keyReachOf(
  db: OpenDatabase['kysely'],
  { permissions, session: { user } }: SignedInCaller,
): Promise<KeyReach> {
  const memberships = await membershipsOf(db, user.id);
  const teamIds = memberships.filter(({ role }) => role === 'owner').map(({ id }) => id);
  const own: Reach = { userId: user.id, teamIds };
  const writesAll = permissions.includes('keys.write');
  return {
    sees: permissions.includes('keys.read') ? undefined : own,
    changes: writesAll ? undefined : own,
    teams: memberships.map(({ name }) => name),
    rankOver({ teamId }) {
      if (writesAll) return 'admin';
      return teamId !== null && teamIds.includes(teamId) ? 'owner' : 'member';
    },
  };
}
