import { type DeclaredUser, kinds } from '#config/index.ts';
import type { Change } from '#database/index.ts';
import { compareFields, type FieldChange, fieldsOf } from '#declaration/index.ts';
import {
  disableUser as disableStoredUser,
  findUserByEmail,
  listUsers,
  renameUser as renameStoredUser,
  setPassword,
  type StoredUser,
  upsertUser,
} from '#identity/index.ts';
import type { Actor, AuditEntry } from './audit.ts';
import { checkNames } from './check-names.ts';
import { type Administration, perform, noChange } from './perform.ts';
import { missingObject, takenName } from './refusal.ts';

/**
 * Creates a user with an opening balance.
 * @throws Refusal for an address that has a user, or a group that does not exist.
 */
export function createUser(
  administration: Administration,
  actor: Actor,
  settings: DeclaredUser,
): Promise<StoredUser> {
  const { email } = settings;
  return perform(administration, actor, async (change) => {
    if ((await findUserByEmail(change.trx, email)) !== null) throw takenName('user', email);
    await checkNames(change, kinds.user, settings);
    const user = await store(change, settings);
    return { result: user, auditEntries: [creation(user)] };
  });
}

/**
 * Creates the first administrator, with a password; null if there is an administrator.
 * @param keep receives the user's id before the transaction ends; if it throws, nothing is created
 */
export function createFirstAdministrator(
  administration: Administration,
  actor: Actor,
  settings: DeclaredUser,
  passwordHash: string,
  keep: (id: string) => void,
): Promise<StoredUser | null> {
  return perform(administration, actor, async (change) => {
    if ((await listUsers(change.trx)).some(({ role }) => role === 'admin')) return noChange;
    const user = await store(change, { ...settings, role: 'admin' });
    await setPassword(change, user.email, passwordHash);
    keep(user.id);
    return { result: user, auditEntries: [creation(user, [passwordChange])] };
  });
}

/**
 * Replaces the console password, whoever owns the user, and ends all sessions of the user.
 * @throws Refusal for a user that does not exist.
 */
export function replacePassword(
  administration: Administration,
  actor: Actor,
  { email, passwordHash }: { readonly email: string; readonly passwordHash: string },
): Promise<void> {
  return perform(administration, actor, async (change) => {
    const user = await findUserByEmail(change.trx, email);
    if (user === null) throw missingObject('user', email);
    await setPassword(change, user.email, passwordHash);
    const subject = { kind: 'user', id: user.id, name: user.email } as const;
    return {
      result: undefined,
      auditEntries: [{ action: 'update', subject, fields: [passwordChange] }],
    };
  });
}

/**
 * Gives a user another name; null: none.
 * @throws Refusal for a user of the file, or one that does not exist.
 */
export function renameUser(
  administration: Administration,
  actor: Actor,
  { email, name }: { readonly email: string; readonly name: string | null },
): Promise<void> {
  return perform(administration, actor, async (change) => {
    const user = await findUserByEmail(change.trx, email);
    if (user === null) throw missingObject('user', email);
    if (user.name === name) return { result: undefined, auditEntries: [] };
    await renameStoredUser(change, user, name);
    const subject = { kind: 'user', id: user.id, name: user.email } as const;
    const fields = compareFields({ name: user.name }, { name });
    return { result: undefined, auditEntries: [{ action: 'update', subject, fields }] };
  });
}

/**
 * Disables a user: sessions end, and keys get no more responses. False: the user was disabled already.
 * @throws Refusal for a user of the file, or one that does not exist.
 */
export function disableUser(
  administration: Administration,
  actor: Actor,
  email: string,
): Promise<boolean> {
  return perform(administration, actor, async (change) => {
    const user = await findUserByEmail(change.trx, email);
    if (user === null) throw missingObject('user', email);
    const isDisabled = await disableStoredUser(change, user.email);
    const subject = { kind: 'user', id: user.id, name: user.email } as const;
    return {
      result: isDisabled,
      auditEntries: isDisabled ? [{ action: 'disable', subject, fields: [] }] : [],
    };
  });
}

async function store(change: Change, settings: DeclaredUser): Promise<StoredUser> {
  await upsertUser(change, settings);
  const user = await findUserByEmail(change.trx, settings.email);
  if (user === null) throw new Error(`user '${settings.email}' could not be created`);
  return user;
}

function creation(user: StoredUser, more: readonly FieldChange[] = []): AuditEntry {
  const fields = compareFields({}, { ...fieldsOf(kinds.user, user), balance: user.balance });
  return {
    action: 'create',
    subject: { kind: 'user', id: user.id, name: user.email },
    fields: [...fields, ...more],
  };
}

const passwordChange: FieldChange = { field: 'password', before: null, after: null, secret: true };
