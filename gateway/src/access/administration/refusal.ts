import { type Change, OwnedElsewhere } from '#database/index.ts';
import type { ObjectName } from '#config/index.ts';
import { findUser, KeyConflict, type StoredUser } from '#identity/index.ts';
import { CreditOutOfRange, IdempotencyConflict } from '#ledger/index.ts';

/** A change that cannot be made, in a sentence for whoever asked for it. */
export class Refusal extends Error {
  readonly reason:
    | 'missing'
    | 'taken'
    /** The file or the console manages it, and this actor is not the one. */
    | 'managed-elsewhere'
    /** Its present state does not allow it. */
    | 'state'
    /** Somebody above the actor has decided it. */
    | 'above'
    /** A repeated call asks for something else than the first one. */
    | 'repeated'
    | 'out-of-range';

  /** What is missing or taken, where that is known. */
  readonly kind: ObjectName | null;
  /** The setting it is about, named as in the file, where it is about one. */
  readonly field: string | null;

  constructor(
    reason: Refusal['reason'],
    message: string,
    about: { readonly kind?: ObjectName; readonly field?: string } = {},
  ) {
    super(message);
    this.name = 'Refusal';
    this.reason = reason;
    this.kind = about.kind ?? null;
    this.field = about.field ?? null;
  }
}

/** An entry has changed since somebody saw it. */
export class Stale<Entry> extends Error {
  /** As it is now. */
  readonly entry: Entry;

  constructor(kind: ObjectName, name: string, entry: Entry) {
    super(`${nounOf(kind)} '${name}' has changed meanwhile`);
    this.name = 'Stale';
    this.entry = entry;
  }
}

const nounOf = (kind: ObjectName) => kind.replace('_', ' ');

export function missingObject(kind: ObjectName, name: string): Refusal {
  return new Refusal('missing', `${nounOf(kind)} '${name}' does not exist`, { kind });
}

/**
 * The person of a reference.
 * @param find how: default: by id, otherwise by e-mail address
 * @throws Refusal if there is none
 */
export async function knownUser(
  { trx }: Pick<Change, 'trx'>,
  reference: string,
  find: typeof findUser = findUser,
): Promise<StoredUser> {
  const user = await find(trx, reference);
  if (user === null) throw missingObject('user', reference);
  return user;
}

export function takenName(kind: ObjectName, name: string): Refusal {
  return new Refusal('taken', `${nounOf(kind)} '${name}' already exists`, { kind });
}

/** The refusal that an error of the rooms below means; null: none. */
export function refusalOf(error: unknown): Refusal | null {
  if (error instanceof OwnedElsewhere) return new Refusal('managed-elsewhere', error.message);
  if (error instanceof KeyConflict) return new Refusal(error.reason, error.message);
  if (error instanceof CreditOutOfRange) {
    return new Refusal('out-of-range', error.message, { field: 'amount' });
  }
  if (error instanceof IdempotencyConflict) return new Refusal('repeated', error.message);
  return null;
}
