export type { Authority, MeterSums, News, Signs } from './authority.ts';
export type {
  Command,
  LeaseChange,
  LeaseReply,
  Outcome,
  Reply,
  Want,
  WantedMeter,
} from './command.ts';
export { decide } from './decide.ts';
export { groupsOf, narrow, withLeft } from './groups.ts';
export { createMemoryAuthority } from './memory-authority.ts';
export { createPostgresAuthority } from './postgres-authority.repository.ts';
export {
  closeLives,
  closeSilentLives,
  freedLives,
  freeSilentLives,
  type Freed,
  heldByRequests,
} from './lives.repository.ts';
export {
  amountOf,
  leasesOn,
  leftOn,
  newMeter,
  type LeaseRow,
  type LifeRow,
  type MeterRow,
  type Rules,
  type View,
} from './rows.ts';
export {
  holdForTask,
  releaseTaskHold,
  type KeptHold,
  type TaskHold,
} from './task-holds.repository.ts';
export { leaseName, settleLeases, unleasedLife, type LeasedPart } from './settle.repository.ts';
