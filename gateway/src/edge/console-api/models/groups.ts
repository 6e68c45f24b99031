import type { CatalogueSnapshot } from '#catalogue/index.ts';
import type { OpenDatabase } from '#database/index.ts';
import { groupsFor } from '../keys/reach.ts';
import { groupsOfUser, listKeys, membershipsOf } from '#identity/index.ts';
import { type Caller, personOf, type SignedInCaller } from '../sessions/caller.ts';

type Db = OpenDatabase['kysely'];

/** The groups whose models a person sees: those that they may use, whether they or a team pay; some roles see all. */
export async function groupsOf(
  db: Db,
  caller: Caller,
  { groups }: CatalogueSnapshot,
): Promise<ReadonlySet<string>> {
  if (caller.permissions.includes('models.read')) return new Set(groups.keys());
  const user = personOf(caller);
  const memberships = await membershipsOf(db, user.id);
  return new Set([
    ...(await groupsOfUser(db, user.id)),
    ...memberships.flatMap((team) => team.groups),
    ...(await ownKeys(db, user.id)).map(({ group }) => group),
  ]);
}

/** Who asks models, and who pays. */
interface Use {
  readonly caller: SignedInCaller;
  /** A name; null: the person pays. */
  readonly team: string | null;
}

/** The groups in which a person may ask models: those that a new key may have, and those of the keys that exist. */
export async function usableGroups(
  db: Db,
  { caller: { permissions, session }, team }: Use,
  { groups }: CatalogueSnapshot,
): Promise<ReadonlySet<string>> {
  if (permissions.includes('keys.write')) return new Set(groups.keys());
  const { id } = session.user;
  const keys = (await ownKeys(db, id)).filter((key) => key.team === team);
  return new Set([...(await groupsFor(db, { userId: id, team })), ...keys.map((key) => key.group)]);
}

async function ownKeys(db: Db, userId: string) {
  const keys = await listKeys(db, { within: { userId, teamIds: [] } });
  return keys.filter(({ enabled, revokedAt }) => enabled && revokedAt === null);
}
