import {
  type Change,
  commitDurably,
  createChange,
  type OpenDatabase,
  type Secrets,
} from '#database/index.ts';
import { lockDeclaration } from '#declaration/index.ts';
import { type Actor, ownerFor, type Audit, type AuditEntry } from './audit.ts';
import { refusalOf } from './refusal.ts';

/** What every use case works with. */
export interface Administration {
  readonly database: OpenDatabase;
  readonly secrets: Secrets;
  readonly audit: Audit;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/** What a use case did: its result, and its lines for the audit log. None where nothing changed. */
export interface Done<Result> {
  readonly result: Result;
  readonly auditEntries: readonly AuditEntry[];
}

/** Where there is nothing to do. */
export const noChange: Done<null> = { result: null, auditEntries: [] };

/**
 * Runs a use case in one transaction: its checks, its change, and the record of it. Nothing stays of one that throws,
 * or whose record cannot be written. One use case at a time checks and changes.
 * @throws Refusal if a rule forbids the change.
 */
export async function perform<Result>(
  administration: Administration,
  actor: Actor,
  useCase: (change: Change) => Promise<Done<Result>>,
): Promise<Result> {
  const { database, secrets, audit, now } = administration;
  try {
    return await database.kysely.transaction().execute(async (trx) => {
      await commitDurably(trx, database.dialect);
      await lockDeclaration(trx, database.dialect);
      const change = createChange(trx, { owner: ownerFor(actor), secrets, now: now() });
      const { result, auditEntries } = await useCase(change);
      for (const entry of auditEntries) await audit(change, actor, entry);
      return result;
    });
  } catch (error) {
    throw refusalOf(error) ?? error;
  }
}
