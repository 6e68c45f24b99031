/**
 * The accounts of the books. The account of a user or a team is what the operator owes them: credits raise it, usage
 * lowers it. Every transaction moves money from one account to another.
 */
export type Account = HolderAccount | 'revenue' | 'operator-loss' | 'funding';

/** `user:<id>` or `team:<id>`. */
export type HolderAccount = `${'user' | 'team'}:${string}`;

export const entryKinds = [
  /** The opening balance of an account. */
  'opening',
  /** Incoming money; the other side is `funding`. */
  'top-up',
  /** Money given or taken back to correct a mistake; the other side is `operator-loss`. */
  'correction',
  /** The cost of usage rows; the other side is `revenue`. */
  'usage',
] as const;
export type EntryKind = (typeof entryKinds)[number];

/** The meter that counts the spending of an account (see `limits/money.ts`). */
export function balanceMeter(account: HolderAccount): string {
  return `${account}:balance`;
}
