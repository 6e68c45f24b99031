import type { CatalogueSnapshot } from '#catalogue/index.ts';
import type { OpenDatabase } from '#database/index.ts';
import { listKeys } from '#identity/index.ts';
import type { SignedInCaller } from '../sessions/guard.ts';

/** The group of every key that names none. */
export const usualGroup = 'default';

/** The groups whose channels a person may use: a member's are those of their keys, as a new key has the usual one. */
export async function groupsOf(
  db: OpenDatabase['kysely'],
  { permissions, session }: SignedInCaller,
  { groups }: CatalogueSnapshot,
): Promise<ReadonlySet<string>> {
  if (permissions.includes('models.read')) return new Set(groups.keys());
  const keys = await listKeys(db, { within: { userId: session.user.id, teamIds: [] } });
  const live = keys.filter(({ enabled, revokedAt }) => enabled && revokedAt === null);
  return new Set([usualGroup, ...live.map(({ group }) => group)]);
}
