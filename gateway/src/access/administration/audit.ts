import type { Change, Owner } from '#database/index.ts';
import type { ObjectName } from '#config/index.ts';
import type { FieldChange, PlanStep } from '#declaration/index.ts';

/** Who makes a change. */
export type Actor =
  /** The gateway itself, as at its first start. */
  | { readonly kind: 'gateway' }
  /** A command of this machine. `name`: as its caller gave it, or how the command line calls itself. */
  | { readonly kind: 'command'; readonly name: string }
  /** The configuration file, at a start, a reload or an apply. */
  | { readonly kind: 'file'; readonly path: string }
  /** A program with an admin key. */
  | {
      readonly kind: 'admin-key';
      readonly id: string;
      readonly name: string;
      readonly address: string | null;
      readonly requestId: string;
    }
  /** Somebody who signed in. */
  | {
      readonly kind: 'user';
      readonly id: string;
      readonly email: string;
      /** Where the person is; absent: unknown. */
      readonly address?: string | null;
      /** The `x-request-id` of the call. */
      readonly requestId?: string;
    };

/** The actor in the books and in text for people. */
export function actorName(actor: Actor): string {
  switch (actor.kind) {
    case 'gateway':
      return 'gateway';
    case 'command':
    case 'admin-key':
      return actor.name;
    case 'file':
      return actor.path;
    case 'user':
      return actor.email;
  }
}

const owners = {
  gateway: 'system',
  command: 'console',
  'admin-key': 'console',
  user: 'console',
  file: 'file',
} as const;

/** Whom the rows belong to that this actor creates: only the file's are the file's to change. */
export function ownerFor({ kind }: Actor): Owner {
  return owners[kind];
}

export type Action =
  | PlanStep['action']
  | 'rotate'
  | 'revoke'
  | 'credit'
  | 'end'
  | 'erase'
  | 'refuse'
  | 'export'
  | 'reconcile'
  | 'test'
  | 'reset'
  | 'invite'
  | 'link'
  | 'unlink';

/** One line of the audit log: what was done to what. */
export interface AuditEntry {
  readonly action: Action;
  readonly subject: {
    readonly kind: ObjectName | 'session' | 'usage' | 'audit' | 'books' | 'config';
    /** Absent: its name says which one it is. */
    readonly id?: string;
    readonly name: string;
  };
  /** Every field that changed, before and after. A secret is named and never shown. */
  readonly fields: readonly FieldChange[];
  /** Why, in the actor's own words; absent: the action asks for none. */
  readonly reason?: string;
}

/**
 * Where changes are put on record, inside the transaction of the change: what is on record has happened, and what has
 * happened is on record. The time is the change's.
 */
export type Audit = (
  change: Pick<Change, 'trx' | 'now'>,
  actor: Actor,
  entry: AuditEntry,
) => Promise<void>;
