import { isName, kinds, readEntry } from '#config/index.ts';
import { compareFields } from '#declaration/index.ts';
import {
  finishOnce,
  findUser,
  findUserByEmail,
  isLinked,
  endSessionsOf,
  linkIdentity,
  listAdministrators,
  type Identity,
  type StoredUser,
  unlinkIdentities,
  upsertUser,
  userOfIdentity,
} from '#identity/index.ts';
import type { Change } from '#database/index.ts';
import type { Actor, AuditEntry } from './audit.ts';
import { namesInForce } from './names-in-force.ts';
import { type Administration, perform } from './perform.ts';
import { knownUser, Refusal } from './refusal.ts';
import { creation, store } from './users.ts';

/** What a provider has proved about somebody. */
export interface ProvenPerson extends Identity {
  /** That the person owns it is proved too. In lower case. */
  readonly email: string;
  readonly name: string | null;
  /** The role that the provider's groups give; null: roles are given in the console. */
  readonly role: StoredUser['role'] | null;
}

/** How people get accounts by a provider. */
export interface IdentityRules {
  /** Whether people whom the gateway does not know get an account. */
  readonly create: boolean;
  /** The role of a new person whose groups say nothing. */
  readonly role: StoredUser['role'];
}

/** Why a person whom the provider has proved does not get in. */
export type IdentityProblem =
  /** This sign-in has come back before. */
  | 'repeated'
  | 'unknown-person'
  | 'disabled'
  /** An account above a member is linked only by somebody who is signed in to it. */
  | 'link-first'
  /** The account is linked to somebody else at the provider, who had this address before. */
  | 'other-identity'
  /** Another account is linked to this identity. */
  | 'linked-elsewhere';

export class IdentityRefused extends Error {
  readonly problem: IdentityProblem;

  constructor(problem: IdentityProblem) {
    super(`a sign-in at the provider was refused: ${problem}`);
    this.name = 'IdentityRefused';
    this.problem = problem;
  }
}

/** A sign-in that has come back from the provider. */
export interface FinishedSignIn {
  /** A hash of its state. */
  readonly id: string;
  /** When its cookie is too old anyway. Unix milliseconds. */
  readonly until: number;
  /** Who was signed in when it began, in order to link this account; null: nobody. */
  readonly linkTo: string | null;
}

/**
 * The account of a person whom a provider has proved. A new identity is linked to the account with its address, if that
 * is a member's, or to the one that is signed in; otherwise the person gets an account. The role follows the provider's
 * groups.
 * @param actorFor who does it: the person
 * @throws IdentityRefused; nothing has changed then
 */
export function signInByIdentity(
  administration: Administration,
  actorFor: (user: Pick<StoredUser, 'id' | 'email'>) => Actor,
  person: ProvenPerson,
  rules: IdentityRules,
  signIn: FinishedSignIn,
): Promise<StoredUser> {
  // Whoever is new has an id only afterwards.
  const somebody = actorFor({ id: '', email: person.email });
  return perform<StoredUser>(administration, somebody, async (change) => {
    if (!(await finishOnce(change, signIn))) throw new IdentityRefused('repeated');
    const { user: before, auditEntries } = await accountOf(change, person, rules, signIn.linkTo);
    if (!before.enabled) throw new IdentityRefused('disabled');
    const { user, auditEntries: more } = await withRole(change, before, person.role);
    for (const entry of [...auditEntries, ...more]) {
      await administration.audit(change, actorFor(user), entry);
    }
    return { result: user, auditEntries: [] };
  });
}

/**
 * Ends the links of a person with providers, and the person's sessions unless it is the person who asks.
 * @returns how many links there were
 * @throws Refusal for a person who does not exist, or has no password and could not sign in any more
 */
export function unlinkUser(
  administration: Administration,
  actor: Actor,
  id: string,
): Promise<number> {
  return perform(administration, actor, async (change) => {
    const user = await knownUser(change, id);
    if (user.passwordHash === null) {
      const message = `'${user.email}' has no password, and could not sign in any more: set one first, by a link to do so`;
      throw new Refusal('state', message);
    }
    const issuers = await unlinkIdentities(change, user.id);
    if (issuers.length > 0 && !('id' in actor && actor.id === user.id)) {
      await endSessionsOf(change, user.id);
    }
    const auditEntries = issuers.map((issuer) => ({
      action: 'unlink' as const,
      subject: subjectOf(user),
      fields: compareFields({ issuer }, { issuer: null }),
    }));
    return { result: issuers.length, auditEntries };
  });
}

interface Account {
  readonly user: StoredUser;
  readonly auditEntries: readonly AuditEntry[];
}

async function accountOf(
  change: Change,
  person: ProvenPerson,
  rules: IdentityRules,
  linkTo: string | null,
): Promise<Account> {
  const { trx } = change;
  const linked = await userOfIdentity(trx, person);
  if (linked !== null) {
    if (linkTo !== null && linkTo !== linked) throw new IdentityRefused('linked-elsewhere');
    const user = await findUser(trx, linked);
    if (user === null) throw new IdentityRefused('unknown-person');
    return { user, auditEntries: [] };
  }
  const known =
    linkTo === null ? await findUserByEmail(trx, person.email) : await findUser(trx, linkTo);
  if (known === null) {
    if (!rules.create || linkTo !== null) throw new IdentityRefused('unknown-person');
    const user = await create(change, person, rules);
    await linkIdentity(change, user.id, person);
    return { user, auditEntries: [creation(user), linkOf(user, person)] };
  }
  if (await isLinked(trx, known.id, person.issuer)) throw new IdentityRefused('other-identity');
  if (linkTo === null && known.role !== 'member') throw new IdentityRefused('link-first');
  if (!known.enabled) throw new IdentityRefused('disabled');
  await linkIdentity(change, known.id, person);
  return { user: known, auditEntries: [linkOf(known, person)] };
}

async function create(
  change: Change,
  { email, name, role }: ProvenPerson,
  rules: IdentityRules,
): Promise<StoredUser> {
  const members = {
    email,
    role: role ?? rules.role,
    ...(name !== null && name !== '' && isName(name) && { name }),
  };
  return store(change, readEntry(kinds.user, members, await namesInForce(change)));
}

/** Gives a person the role of the provider's groups. The file's people have the file's; the last administrator stays one. */
async function withRole(
  change: Change,
  before: StoredUser,
  role: StoredUser['role'] | null,
): Promise<Account> {
  const unchanged = { user: before, auditEntries: [] };
  if (role === null || role === before.role || before.owner === 'file') return unchanged;
  if (before.role === 'admin' && (await isLastAdministrator(change, before))) return unchanged;
  await upsertUser(change, { ...before, role });
  const user = (await findUser(change.trx, before.id)) ?? before;
  const fields = compareFields({ role: before.role }, { role });
  return { user, auditEntries: [{ action: 'update', subject: subjectOf(user), fields }] };
}

/** Whether nobody else could administer the gateway. */
export async function isLastAdministrator(
  { trx }: Pick<Change, 'trx'>,
  { id }: Pick<StoredUser, 'id'>,
): Promise<boolean> {
  const others = (await listAdministrators(trx)).filter((each) => each.id !== id);
  return others.length === 0;
}

const subjectOf = ({ id, email }: StoredUser) => ({ kind: 'user', id, name: email }) as const;

/** Without the subject: it may be an address, and an erasure would have to find it. */
function linkOf(user: StoredUser, { issuer }: Identity): AuditEntry {
  const fields = compareFields({}, { issuer });
  return { action: 'link', subject: subjectOf(user), fields };
}
