import type { Change } from '#database/index.ts';
import type { KindName } from '#config/index.ts';
import type { FieldChange, PlanStep } from '#declaration/index.ts';
import type { Actor } from './actor.ts';

export type Action =
  | PlanStep['action']
  | 'rotate'
  | 'revoke'
  | 'credit'
  | 'end'
  | 'refuse'
  | 'export';

/** One line of the audit log: what was done to what. */
export interface AuditEntry {
  readonly action: Action;
  readonly subject: {
    readonly kind: KindName | 'session' | 'usage';
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
