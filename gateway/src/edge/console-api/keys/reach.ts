import {
  groupsOfUser,
  type Membership,
  membershipsOf,
  type Rank,
  type Reach,
  type StoredKey,
} from '#identity/index.ts';
import type { OpenDatabase } from '#database/index.ts';
import { type Caller, personOf } from '../sessions/caller.ts';

/** What a caller may do with keys. */
export interface KeyReach {
  /** Undefined: the keys of everybody. */
  readonly sees: Reach | undefined;
  readonly changes: Reach | undefined;
  /** The teams that the person belongs to. */
  readonly teams: readonly Membership[];
  readonly rankOver: (key: Pick<StoredKey, 'teamId'>) => Rank;
}

/**
 * People have to do with their own keys, owners of a team also with the team's, and some roles with all of them.
 * @throws ApiError `forbidden` for a program whose role changes no keys
 */
export async function keyReachOf(db: OpenDatabase['kysely'], caller: Caller): Promise<KeyReach> {
  if (caller.permissions.includes('keys.write')) return wholeReach;
  const user = personOf(caller);
  const memberships = await membershipsOf(db, user.id);
  const teamIds = memberships.filter(({ role }) => role === 'owner').map(({ id }) => id);
  const own: Reach = { userId: user.id, teamIds };
  return {
    sees: caller.permissions.includes('keys.read') ? undefined : own,
    changes: own,
    teams: memberships,
    rankOver: ({ teamId }) => (teamId !== null && teamIds.includes(teamId) ? 'owner' : 'member'),
  };
}

const wholeReach: KeyReach = {
  sees: undefined,
  changes: undefined,
  teams: [],
  rankOver: () => 'admin',
};

/** The keys that a caller sees; undefined: those of everybody. @throws ApiError as `keyReachOf` */
export async function seenKeys(
  db: OpenDatabase['kysely'],
  caller: Caller,
): Promise<Reach | undefined> {
  if (caller.permissions.includes('keys.read')) return undefined;
  return (await keyReachOf(db, caller)).sees;
}

/** Who a key belongs to, and what it acts for. */
export interface KeyPayer {
  readonly userId: string;
  /** A name; null: the person pays. */
  readonly team: string | null;
}

/** The groups that a person who may not manage all keys can give a key: those of its payer. */
export async function groupsFor(
  db: OpenDatabase['kysely'],
  { userId, team }: KeyPayer,
): Promise<readonly string[]> {
  if (team === null) return groupsOfUser(db, userId);
  const memberships = await membershipsOf(db, userId);
  return memberships.find(({ name }) => name === team)?.groups ?? [];
}

/** The group of a key that names none. */
export function usualGroupOf(groups: readonly string[]): string {
  return groups.find((group) => group === usualGroup) ?? groups[0] ?? usualGroup;
}

/** The group of every key that the file or a command makes without naming one. */
export const usualGroup = 'default';
