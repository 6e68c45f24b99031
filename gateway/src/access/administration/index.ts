export type { Actor } from './actor.ts';
export { applyFile, ensureDefaultGroup } from './apply-file.ts';
export type { Audit, AuditEntry } from './audit.ts';
export {
  type AuditFilter,
  type AuditLine,
  listAudit,
  recordAudit,
  removeOldAudit,
} from './audit.repository.ts';
export { creditBalance, type Credited, type CreditOptions } from './credit.ts';
export {
  createFirstKey,
  createKey,
  graceRule,
  type IssuedKey,
  type KeySettings,
  listKeys,
  parseGrace,
  revokeKey,
  rotateKey,
  usualGrace,
} from './keys.ts';
export { demoChannel, offerChannels, withdrawDemo } from './own-channels.ts';
export type { Administration } from './perform.ts';
export { Refusal } from './refusal.ts';
export { createFirstAdministrator, createUser, replacePassword } from './users.ts';
