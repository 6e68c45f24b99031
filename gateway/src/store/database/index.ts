export { createDatabaseBreaker, type DatabaseBreaker } from './breaker.ts';
export { assertMigrated } from './assert-migrated.ts';
export { createCautiousDate } from './cautious-date.ts';
export {
  createChange,
  OwnedElsewhere,
  type Change,
  type ChangeOptions,
  type Upserted,
} from './change.ts';
export { commitDurably, waitForDisk } from './commit-durably.ts';
export { connectDatabase, sqliteFileOf } from './connect.ts';
export { prepareDataFolder, tightenDataFolder } from './data-folder.ts';
export { notify } from './listening.ts';
export { claimMasterKey, readMasterKey } from './master-key.ts';
export { migrate } from './migrate.ts';
export { withChangeableRows } from './migrations/triggers.ts';
export { formatUsd, parseUsd } from './money.ts';
export { openDatabase, type DatabaseOptions, type OpenDatabase } from './open.ts';
export { hashPassword, verifyPassword } from './password.ts';
export { createRestartBudget } from './restart-budget.ts';
export { assertMayWrite, nextRevision, oldestWriterOf } from './revisions.ts';
export type * from './schema.ts';
export { createSecrets, type Secrets } from './secrets.ts';
export { type Stored } from './rows.ts';
export { createTrouble, type Trouble } from './trouble.ts';
export {
  createRevisionWatch,
  type RevisionListener,
  type RevisionWatch,
  type RevisionWatchOptions,
} from './revision-watch.ts';
