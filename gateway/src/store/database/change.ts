import type { Transaction } from 'kysely';
import { nextRevision } from './revisions.ts';
import type { Database, Owner } from './schema.ts';
import type { Secrets } from './secrets.ts';

/** One transaction that changes rows of the catalogue or of users, teams and keys. */
export interface Change {
  readonly trx: Transaction<Database>;
  /** Who makes the change; rows it creates belong to it. */
  readonly owner: Owner;
  readonly secrets: Secrets;
  /** Unix milliseconds. */
  readonly now: number;
  /** The revision of everything this change writes; taken at the first write, the same afterwards. */
  revision(): Promise<number>;
}

export type ChangeOptions = Pick<Change, 'owner' | 'secrets' | 'now'>;

/** What an `upsert…` did. `unchanged` writes nothing, so applying the same file again costs no revision. */
export type Upserted = 'created' | 'updated' | 'unchanged';

/** A change within this transaction; its revision is taken when something is written. */
export function createChange(trx: Transaction<Database>, options: ChangeOptions): Change {
  let revision: Promise<number> | null = null;
  return Object.freeze({
    ...options,
    trx,
    revision: () => (revision ??= nextRevision(trx)),
  });
}

/** The row belongs to somebody else, so this change may not touch it. The message is for the user. */
export class OwnedElsewhere extends Error {
  constructor(kind: string, name: string, owner: Owner) {
    const where = owner === 'file' ? 'in the configuration file' : 'in the console';
    super(`${kind} '${name}' is managed ${where} and cannot be changed here`);
    this.name = 'OwnedElsewhere';
  }
}

/** The file may take over what the system made; otherwise only the owner changes a row. */
export function assertMayChange(change: Change, kind: string, name: string, owner: Owner): void {
  if (owner !== change.owner && owner !== 'system') throw new OwnedElsewhere(kind, name, owner);
}
