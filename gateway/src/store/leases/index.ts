export type { Authority, MeterSums, Signs } from './authority.ts';
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
export { createMemoryAuthority } from './memory-authority.ts';
export { createPostgresAuthority } from './postgres-authority.repository.ts';
export { closeLives, freeSilentLives, type Freed } from './lives.repository.ts';
export {
  amountOf,
  leasesOn,
  newMeter,
  type LeaseRow,
  type LifeRow,
  type MeterRow,
  type Rules,
  type View,
} from './rows.ts';
export { settleLeases, type LeasedPart } from './settle.repository.ts';
