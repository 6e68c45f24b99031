import { kinds } from '#config/index.ts';
import { withChangeableRows } from '#database/index.ts';
import {
  eraseUser as eraseStoredUser,
  findUserByEmail,
  leaveTeams,
  listKeys,
  renameKey,
  revokeKey,
} from '#identity/index.ts';
import type { Actor } from './audit.ts';
import {
  eraseCalls,
  eraseErrorTexts,
  eraseFromAudit,
  eraseFromLedger,
} from './erase-rows.repository.ts';
import { erasedEmail, withoutPerson, type ErasedPerson } from './erased-person.ts';
import { type Administration, perform } from './perform.ts';
import { missingObject, Refusal } from './refusal.ts';

/** What an erasure did. */
export interface Erasure {
  readonly id: string;
  /** What the person is called from now on. */
  readonly email: string;
  /** Keys that were revoked. */
  readonly keys: number;
  /** Teams that the person left. */
  readonly teams: number;
  readonly ledgerEntries: number;
  readonly auditLines: number;
}

/**
 * Replaces a person's address and name in all tables. Requests, sums, balances and the books keep the id, which says
 * nothing about the person by itself. Sessions end, and keys are revoked for good.
 * @throws Refusal for a person that does not exist, or that the file declares
 */
export function eraseUser(
  administration: Administration,
  actor: Actor,
  email: string,
): Promise<Erasure> {
  const { dialect } = administration.database;
  return perform(administration, actor, async (change) => {
    const { trx } = change;
    const user = await findUserByEmail(trx, email);
    if (user === null) throw missingObject(kinds.user.name, email);
    if (user.owner === 'file' && user.enabled) {
      throw new Refusal(
        'managed-elsewhere',
        `user '${user.email}' is in the configuration file: remove it there first, and apply the file`,
      );
    }
    const { id, name } = user;
    const person: ErasedPerson = { id, email: user.email, name, newEmail: erasedEmail(id) };
    const renamedKeys = new Map<string, string>();
    const keys = await listKeys(trx, { user: user.email });
    let revoked = 0;
    for (const key of keys) {
      if (await revokeKey(change, key.name)) revoked += 1;
      if (withoutPerson(key.name, person, true) === key.name) continue;
      await renameKey(change, key.name, key.id);
      renamedKeys.set(key.id, key.id);
    }
    const teams = await leaveTeams(change, id);
    await eraseStoredUser(change, user, person.newEmail);
    await eraseCalls(change, id);
    await eraseErrorTexts(change, id);
    const [ledgerEntries, auditLines] = await withChangeableRows(trx, dialect, async () => [
      await eraseFromLedger(trx, person),
      await eraseFromAudit(trx, person, renamedKeys),
    ]);
    const result = { id, email: person.newEmail, keys: revoked, teams, ledgerEntries, auditLines };
    const subject = { kind: 'user', id, name: person.newEmail } as const;
    return { result, auditEntries: [{ action: 'erase', subject, fields: [] }] };
  });
}
