export { createAdminKey, type IssuedAdminKey, revokeAdminKey } from './admin-keys.ts';
export type { Actor, Audit, AuditEntry } from './audit.ts';
export { applyFile, ensureDefaultGroup } from './apply-file.ts';
export {
  type AuditFilter,
  type AuditLine,
  auditPage,
  listAudit,
  recordAudit,
  removeOldAudit,
} from './audit.repository.ts';
export { creditBalance, type Credited, type CreditOptions } from './credit.ts';
export { changeEntry, createEntry, draftEntry } from './entries.ts';
export { channelStore, endPauses, hintOf } from './channels.ts';
export {
  type AliasChange,
  changeModel,
  groupStore,
  modelStore,
  putAlias,
  removeAlias,
} from './models.ts';
export { changeMember, type MemberChange, teamStore } from './teams.ts';
export { type ComparedPlan, exportConfiguration, planText } from './configuration.ts';
export { changeKey } from './change-key.ts';
export type { ChangedSettings } from './key-limits.ts';
export {
  createFirstKey,
  createKey,
  createOwnKey,
  entryOfKey,
  graceRule,
  type IssuedKey,
  type KeySettings,
  listKeys,
  parseGrace,
  revokeKey,
  rotateKey,
  rotateOwnKey,
  usualGrace,
} from './keys.ts';
export { demoChannel, offerChannels, withdrawDemo } from './own-channels.ts';
export type { Administration } from './perform.ts';
export {
  createReconciler,
  lastReconciliation,
  type Reconciler,
  type ReconcilerOptions,
} from './reconcile-books.ts';
export { Refusal, Stale } from './refusal.ts';
export { eraseUser, type Erasure } from './erase.ts';
export {
  IdentityRefused,
  type IdentityProblem,
  type IdentityRules,
  type ProvenPerson,
  signInByIdentity,
  unlinkUser,
} from './identities.ts';
export {
  beginSecondFactor,
  checkSecondFactor,
  enableSecondFactor,
  endSecondFactor,
} from './second-factors.ts';
export { endSession, sessionKey } from './sessions.ts';
export {
  acceptInvitation,
  createFirstAdministrator,
  createUser,
  disableUser,
  inviteUser,
  renameUser,
  replacePassword,
  signOutUser,
  userStore,
} from './users.ts';
