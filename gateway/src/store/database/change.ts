import type { Transaction } from 'kysely';
import { nextRevision } from './revisions.ts';
import type { Database, Owner } from './schema.ts';
import type { Secrets } from './secrets.ts';

/** One transaction that changes the catalogue, users, teams or keys. */
export interface Change {
  readonly trx: Transaction<Database>;
  /** Who makes the change; new rows get this owner. */
  readonly owner: Owner;
  /** Whether rows of other owners become those of this one. Default: false. */
  readonly takesOver?: boolean;
  readonly secrets: Secrets;
  /** Unix milliseconds. */
  readonly now: number;
  /** The revision of everything this change writes. Taken at the first write and constant afterwards. */
  revision(): Promise<number>;
}

export type ChangeOptions = Pick<Change, 'owner' | 'takesOver' | 'secrets' | 'now'>;

/** The result of an `upsert…`. `unchanged` writes nothing, so applying the same file again takes no revision. */
export type Upserted = 'created' | 'updated' | 'unchanged';

/** Creates a change within this transaction. It takes a revision at its first write. */
export function createChange(trx: Transaction<Database>, options: ChangeOptions): Change {
  let revision: Promise<number> | null = null;
  return Object.freeze({
    ...options,
    trx,
    revision: () => (revision ??= nextRevision(trx)),
  });
}

/** The row has another owner, so this change must not touch it. The message is for the user. */
export class OwnedElsewhere extends Error {
  constructor(kind: string, name: string, owner: Owner) {
    const where = owner === 'file' ? 'in the configuration file' : 'in the console';
    super(`${kind} '${name}' is managed ${where} and cannot be changed here`);
    this.name = 'OwnedElsewhere';
  }
}

/** The file has the rows that the system created. Every other row is changed only by its owner, or by who takes it over. */
export function assertMayChange(change: Change, kind: string, name: string, owner: Owner): void {
  if (owner === change.owner || owner === 'system' || change.takesOver === true) return;
  throw new OwnedElsewhere(kind, name, owner);
}
