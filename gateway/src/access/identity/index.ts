export type * from './caller.ts';
export {
  findKey,
  keysThatEnd,
  listKeys,
  type KeyFilter,
  type StoredKey,
} from './key-queries.repository.ts';
export {
  createKeyDirectory,
  type KeyDirectoryOptions,
  type LoadedKeyDirectory,
} from './key-directory.ts';
export { isKeySecret } from './key-secret.ts';
export {
  createKey,
  disableKey,
  KeyConflict,
  revokeKey,
  rotateKey,
  upsertKey,
} from './keys.repository.ts';
export {
  disableTeam,
  listTeams,
  teamBudgets,
  upsertTeam,
  type StoredTeam,
} from './teams.repository.ts';
export {
  disableUser,
  findUserByEmail,
  listUsers,
  setPassword,
  upsertUser,
  type StoredUser,
} from './users.repository.ts';
export {
  endSession,
  findSession,
  removeEndedSessions,
  sessionRules,
  startSession,
  type Session,
} from './sessions.repository.ts';
export { ownerOf, type Owner } from './owner.ts';
export { isUsable } from './usable.ts';
