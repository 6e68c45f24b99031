export {
  listAccounts,
  sumBooks,
  type AccountPlace,
  type AccountTotals,
  type BookSums,
} from './accounts.repository.ts';
export { entryKinds, type Account, type EntryKind, type HolderAccount } from './accounts.ts';
export { balances, fundingOf, heldByTasks, spentOf } from './balances.repository.ts';
export {
  createTransactionId,
  creditAccount,
  CreditOutOfRange,
  IdempotencyConflict,
  openAccount,
  postTransaction,
  type Booked,
  type Credit,
  type LedgerTransaction,
} from './entries.repository.ts';
export {
  listAccountEntries,
  listEntries,
  requestsOf,
  type Entry,
  type EntryFilter,
  type EntryPlace,
} from './entry-list.repository.ts';
export {
  chargedColumns,
  chargedOf,
  meterNames,
  type Charged,
  type ChargedRow,
} from './meter-names.ts';
export type { Difference } from './reconcile/difference.ts';
export { acknowledgeLosses } from './reconcile/losses.repository.ts';
export { reconcile, type Checked } from './reconcile/reconcile.ts';
export { lateCharges } from './reconcile/rows.repository.ts';
export {
  changeZone,
  dailyWindow,
  spansOf,
  windowOf,
  type WindowClock,
  type WindowSpan,
} from './windows.ts';
