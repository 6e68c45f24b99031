export type { Actor } from './actor.ts';
export { applyFile } from './apply-file.ts';
export { type Action, type Audit, type AuditEntry, noAudit } from './audit.ts';
export { creditBalance, type Credited, type CreditOptions } from './credit.ts';
export { createKey, type IssuedKey, type KeySettings, revokeKey, rotateKey } from './keys.ts';
export type { Administration } from './perform.ts';
export { Refusal } from './refusal.ts';
export { createUser } from './users.ts';
