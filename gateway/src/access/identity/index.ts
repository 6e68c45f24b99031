export type * from './caller.ts';
export {
  createAdminKey,
  findAdminKey,
  findLiveAdminKey,
  findUsableAdminKey,
  listAdminKeys,
  revokeAdminKey,
  type StoredAdminKey,
  touchAdminKey,
} from './admin-keys.repository.ts';
export {
  countGroupKeys,
  countUsableKeys,
  findKey,
  keysSpent,
  keysThatEnd,
  listKeys,
  type KeyFilter,
  type LimitName,
  type LimitSetters,
  type Rank,
  ranks,
  type Reach,
  type StoredKey,
} from './key-queries.repository.ts';
export { findCall, keepCall, type RepeatableCall } from './repeatable-calls.repository.ts';
export {
  createKeyDirectory,
  type KeyDirectoryOptions,
  type LoadedKeyDirectory,
} from './key-directory.ts';
export { isAdminKeySecret, isKeySecret } from './key-secret.ts';
export {
  countKeys,
  createKey,
  disableKey,
  KeyConflict,
  noteLimitSetters,
  renameKey,
  revokeKey,
  rotateKey,
  upsertKey,
} from './keys.repository.ts';
export {
  finishOnce,
  isLinked,
  linkIdentity,
  unlinkIdentities,
  withIdentity,
  listAdministrators,
  type Identity,
  userOfIdentity,
} from './identities.repository.ts';
export {
  disableTeam,
  findTeam,
  leaveTeams,
  listTeams,
  type Membership,
  membershipsOf,
  membersOfTeam,
  membersOfTeams,
  membershipsOfEach,
  teamBudgets,
  type TeamFilter,
  upsertTeam,
  type StoredTeam,
} from './teams.repository.ts';
export {
  disableUser,
  eraseUser,
  findInvitedUser,
  findUser,
  findUserByEmail,
  groupsOfUser,
  inviteUser,
  enabledNames,
  listUsers,
  renameUser,
  setPassword,
  upsertUser,
  type StoredUser,
  type UserFilter,
} from './users.repository.ts';
export {
  confirmSecondFactor,
  countRecoveryCodes,
  countSignIns,
  findSecondFactor,
  putSecondFactor,
  removeSecondFactor,
  takeRecoveryCode,
  takeStep,
  withSecondFactor,
} from './second-factors.repository.ts';
export {
  acceptedStep,
  newRecoveryCodes,
  newTotpSecret,
  otpauthUri,
  plainCode,
  recoveryCodeLength,
} from './totp.ts';
export {
  countSessions,
  endSession,
  endSessionsOf,
  findSession,
  listSessions,
  removeEndedSessions,
  sessionEnd,
  sessionRules,
  startSession,
  type Session,
} from './sessions.repository.ts';
export {
  keepSessionKey,
  sessionKeyExpiry,
  sessionKeySecret,
  type SessionKeyUse,
} from './session-keys.repository.ts';
export { changePreferences, type Preferences } from './preferences.repository.ts';
export { ownerOf, type Owner, isUsable } from './caller.ts';
