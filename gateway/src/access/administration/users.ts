import type { DeclaredUser } from '#config/index.ts';
import { compareFields, views } from '#declaration/index.ts';
import { findUserByEmail, type StoredUser, upsertUser } from '#identity/index.ts';
import type { Actor } from './actor.ts';
import { type Administration, perform } from './perform.ts';
import { taken } from './refusal.ts';

/**
 * Creates a user with an opening balance.
 * @throws Refusal for an address that has a user.
 */
export function createUser(
  administration: Administration,
  actor: Actor,
  settings: DeclaredUser,
): Promise<StoredUser> {
  const { email } = settings;
  return perform(administration, actor, async (change) => {
    if ((await findUserByEmail(change.trx, email)) !== null) throw taken('user', email);
    await upsertUser(change, settings);
    const user = await findUserByEmail(change.trx, email);
    if (user === null) throw new Error(`user '${email}' could not be created`);
    const fields = compareFields({}, { ...views.user(user), balance: user.balance });
    return {
      result: user,
      audited: [{ action: 'create', subject: { kind: 'user', name: user.email }, fields }],
    };
  });
}
