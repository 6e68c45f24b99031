import { compareFields } from '#declaration/index.ts';
import {
  acceptedStep,
  confirmSecondFactor,
  findSecondFactor,
  findUser,
  newRecoveryCodes,
  newTotpSecret,
  plainCode,
  putSecondFactor,
  recoveryCodeLength,
  removeSecondFactor,
  takeRecoveryCode,
  takeStep,
} from '#identity/index.ts';
import type { Actor, AuditEntry } from './audit.ts';
import { type Administration, perform } from './perform.ts';
import { knownUser, missingObject, Refusal } from './refusal.ts';

interface Person {
  readonly id: string;
  readonly email: string;
}

/** What a secret is sealed for. */
const placeOf = ({ id }: Pick<Person, 'id'>) => `user:${id}:second factor`;
const hashText = ({ id }: Pick<Person, 'id'>, code: string) => `recovery ${id} ${plainCode(code)}`;

/**
 * Begins a second factor, which is not in force before a code of it was shown.
 * @returns its secret, in base32
 * @throws Refusal if the person has one, or no password that it would be added to
 */
export function beginSecondFactor(
  administration: Administration,
  actor: Actor,
  person: Person,
): Promise<string> {
  return perform(administration, actor, async (change) => {
    const user = await findUser(change.trx, person.id);
    if (user === null) throw missingObject('user', person.email);
    if (user.passwordHash === null) {
      const message =
        'you have no password: the provider where you sign in asks for a second factor itself';
      throw new Refusal('state', message);
    }
    const before = await findSecondFactor(change.trx, person.id);
    if (before !== null && before.confirmedAt !== null) {
      throw new Refusal('state', 'you have a second factor already: end it first');
    }
    const secret = newTotpSecret();
    await putSecondFactor(change, person.id, change.secrets.seal(secret, placeOf(person)));
    return { result: secret, auditEntries: [] };
  });
}

/**
 * Brings a second factor into force.
 * @returns the codes that replace it, each once; null for a wrong code
 * @throws Refusal if none was begun
 */
export function enableSecondFactor(
  administration: Administration,
  actor: Actor,
  person: Person,
  code: string,
): Promise<readonly string[] | null> {
  return perform<readonly string[] | null>(administration, actor, async (change) => {
    const factor = await findSecondFactor(change.trx, person.id);
    if (factor === null || factor.confirmedAt !== null) {
      throw new Refusal('state', 'there is no second factor that waits for a code');
    }
    const secret = change.secrets.open(factor.secret, placeOf(person));
    const step = acceptedStep(secret, plainCode(code), { now: change.now, lastStep: 0 });
    if (step === null) return { result: null, auditEntries: [] };
    const codes = newRecoveryCodes();
    const hashes = codes.map((each) => change.secrets.hashKey(hashText(person, each)));
    await confirmSecondFactor(change, person.id, step, hashes);
    return { result: codes, auditEntries: [changeOf(person, 'second_factor', false, true)] };
  });
}

/**
 * Checks a code of the second factor, or one of those that replace it, and uses it up.
 * @returns null: the person has no second factor
 */
export async function checkSecondFactor(
  administration: Administration,
  actor: Actor,
  person: Person,
  code: string,
): Promise<boolean | null> {
  const { database, secrets, now } = administration;
  const factor = await findSecondFactor(database.kysely, person.id);
  if (factor === null || factor.confirmedAt === null) return null;
  const secret = secrets.open(factor.secret, placeOf(person));
  const { lastStep } = factor;
  const step = acceptedStep(secret, plainCode(code), { now: now(), lastStep });
  if (step !== null) return takeStep(database.kysely, person.id, step);
  if (plainCode(code).length !== recoveryCodeLength) return false;
  const hash = secrets.hashKey(hashText(person, code));
  return perform(administration, actor, async ({ trx }) => {
    const isTaken = await takeRecoveryCode(trx, person.id, hash);
    const used = changeOf(person, 'recovery_code', 'unused', 'used');
    return { result: isTaken, auditEntries: isTaken ? [used] : [] };
  });
}

/**
 * Ends a second factor, or the beginning of one.
 * @param reference the id of a person, or the e-mail address
 * @returns false if there was none in force
 * @throws Refusal for a person who does not exist
 */
export function endSecondFactor(
  administration: Administration,
  actor: Actor,
  reference: string,
): Promise<boolean> {
  return perform(administration, actor, async (change) => {
    const user = await knownUser(change, reference);
    const isEnded = await removeSecondFactor(change, user.id);
    return {
      result: isEnded,
      auditEntries: isEnded ? [changeOf(user, 'second_factor', true, false)] : [],
    };
  });
}

function changeOf({ id, email }: Person, field: string, before: unknown, after: unknown) {
  const subject = { kind: 'user', id, name: email } as const;
  const fields = compareFields({ [field]: before }, { [field]: after });
  return { action: 'update', subject, fields } satisfies AuditEntry;
}
