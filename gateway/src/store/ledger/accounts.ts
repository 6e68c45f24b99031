/**
 * The accounts of the books. A user's or a team's account is what the operator owes them: credits raise it, usage
 * lowers it. Every transaction takes from one account what it gives to another.
 */
export type Account = HolderAccount | 'revenue' | 'operator-loss' | 'funding';

/** `user:<id>` or `team:<id>`. */
export type HolderAccount = `${'user' | 'team'}:${string}`;

export type EntryKind =
  /** The balance an account began with. */
  | 'opening'
  /** Money that came in; the other side is `funding`. */
  | 'top-up'
  /** Money given back, or taken back, to put right what went wrong; the other side is `operator-loss`. */
  | 'correction'
  /** What usage rows cost; the other side is `revenue`. */
  | 'usage';

/** The meter on which what an account has spent is counted (see `limits/counters.ts`). */
export function balanceMeter(account: HolderAccount): string {
  return `${account}:balance`;
}
