import { type DeclaredUser, kinds } from '#config/index.ts';
import type { Change } from '#database/index.ts';
import { compareFields, type FieldChange, fieldsOf } from '#declaration/index.ts';
import {
  disableUser as disableStoredUser,
  endSessionsOf,
  findInvitedUser,
  findUser,
  findUserByEmail,
  inviteUser as inviteStoredUser,
  listAdministrators,
  listUsers,
  renameUser as renameStoredUser,
  setPassword,
  type StoredUser,
  upsertUser,
} from '#identity/index.ts';
import type { Actor, AuditEntry } from './audit.ts';
import { checkNames } from './names-in-force.ts';
import type { EntryStore } from './entries.ts';
import { type Administration, perform, noChange } from './perform.ts';
import { knownUser, Refusal, takenName } from './refusal.ts';

/** People that the console manages. */
export const userStore: EntryStore<typeof kinds.user, StoredUser> = {
  kind: kinds.user,
  find: ({ trx }, reference) => findUser(trx, reference),
  upsert: upsertUser,
  async checkOthers({ trx }, before, after) {
    if (after.enabled && after.role === 'admin') return;
    const administrators = await listAdministrators(trx);
    if (administrators.length === 1 && administrators[0]?.id === before.id) {
      const field = after.enabled ? 'role' : 'enabled';
      const message = `'${before.email}' is the only administrator who can sign in`;
      throw new Refusal('state', message, { field });
    }
  },
};

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
    const user = await knownUser(change, email, findUserByEmail);
    await setPassword(change, user.email, passwordHash);
    const subject = { kind: 'user', id: user.id, name: user.email } as const;
    return {
      result: undefined,
      auditEntries: [{ action: 'update', subject, fields: [passwordChange] }],
    };
  });
}

/** Lets a person set a password, the first one or another. */
export interface Invitation {
  readonly id: string;
  /** SHA-256 of the token, in hex. */
  readonly hash: string;
  /** Unix milliseconds. */
  readonly until: number;
}

/**
 * Invites a person, whoever has made the account; an earlier invitation ends. A password holds until the link is used,
 * which ends all sessions; a second factor stays.
 * @throws Refusal for a person who does not exist, or is disabled.
 */
export function inviteUser(
  administration: Administration,
  actor: Actor,
  { id, ...invitation }: Invitation,
): Promise<void> {
  return perform(administration, actor, async (change) => {
    const user = await knownUser(change, id);
    if (!user.enabled) throw new Refusal('state', `user '${user.email}' is disabled`);
    await inviteStoredUser(change, user.id, invitation);
    const subject = { kind: 'user', id: user.id, name: user.email } as const;
    const fields = compareFields(
      { invited_until: asTime(user.invitedUntil) },
      { invited_until: asTime(invitation.until) },
    );
    return { result: undefined, auditEntries: [{ action: 'invite', subject, fields }] };
  });
}

/**
 * Sets the password of an invited person, and ends the invitation and all sessions.
 * @param actorFor who does it: the person
 * @returns the person's address; null if nobody is invited with this token, or not any more
 */
export function acceptInvitation(
  administration: Administration,
  actorFor: (user: StoredUser) => Actor,
  { hash, passwordHash }: { readonly hash: string; readonly passwordHash: string },
): Promise<string | null> {
  return perform<string | null>(administration, { kind: 'gateway' }, async (change) => {
    const user = await findInvitedUser(change.trx, hash, change.now);
    if (user === null) return noChange;
    await setPassword(change, user.email, passwordHash);
    await administration.audit(change, actorFor(user), {
      action: 'update',
      subject: { kind: 'user', id: user.id, name: user.email },
      fields: [passwordChange],
    });
    return { result: user.email, auditEntries: [] };
  });
}

/**
 * Ends all sessions of a person; returns their number.
 * @throws Refusal for a person who does not exist.
 */
export function signOutUser(
  administration: Administration,
  actor: Actor,
  id: string,
): Promise<number> {
  return perform(administration, actor, async (change) => {
    const user = await knownUser(change, id);
    const ended = await endSessionsOf(change, user.id);
    const subject = { kind: 'session', name: user.email } as const;
    return {
      result: ended,
      auditEntries: ended === 0 ? [] : [{ action: 'end', subject, fields: [] }],
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
    const user = await knownUser(change, email, findUserByEmail);
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
    const user = await knownUser(change, email, findUserByEmail);
    const isDisabled = await disableStoredUser(change, user.email);
    const subject = { kind: 'user', id: user.id, name: user.email } as const;
    return {
      result: isDisabled,
      auditEntries: isDisabled ? [{ action: 'disable', subject, fields: [] }] : [],
    };
  });
}

/** Stores a new person. */
export async function store(change: Change, settings: DeclaredUser): Promise<StoredUser> {
  await upsertUser(change, settings);
  const user = await findUserByEmail(change.trx, settings.email);
  if (user === null) throw new Error(`user '${settings.email}' could not be created`);
  return user;
}

/** The line of a new person. */
export function creation(user: StoredUser, more: readonly FieldChange[] = []): AuditEntry {
  const fields = compareFields({}, { ...fieldsOf(kinds.user, user), balance: user.balance });
  return {
    action: 'create',
    subject: { kind: 'user', id: user.id, name: user.email },
    fields: [...fields, ...more],
  };
}

const asTime = (milliseconds: number | null) =>
  milliseconds === null ? null : new Date(milliseconds).toISOString();

const passwordChange: FieldChange = { field: 'password', before: null, after: null, secret: true };
