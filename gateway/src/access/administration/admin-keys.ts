import { adminKey, type RequestedAdminKey } from '#config/index.ts';
import type { Change } from '#database/index.ts';
import { compareFields, fieldsOf } from '#declaration/index.ts';
import {
  createAdminKey as createStoredAdminKey,
  findAdminKey,
  findLiveAdminKey,
  keepCall,
  type RepeatableCall,
  revokeAdminKey as revokeStoredAdminKey,
  type StoredAdminKey,
} from '#identity/index.ts';
import type { Actor, AuditEntry } from './audit.ts';
import { type Administration, perform } from './perform.ts';
import { missingObject, Refusal, takenName } from './refusal.ts';
import { repeatedObject } from './repetition.ts';

const day = 86_400_000;
/** Milliseconds until an admin key expires, where nobody says when. */
const usualAge = 90 * day;
/** A year, and a day for whoever renews it on the same date. */
const longestAge = 366 * day;

/** An admin key with its secret, which is kept nowhere in clear text; null where the call is a repetition. */
export interface IssuedAdminKey {
  readonly key: StoredAdminKey;
  readonly secret: string | null;
}

/**
 * Makes an admin key. It belongs to the gateway, and outlives its maker's account.
 * @param call undefined: the call is not repeated
 * @throws Refusal for a name that a key in force has, for an expiry that is over or later than 366 days from now, and for a
 *   repeated call that asks for something else
 */
export function createAdminKey(
  administration: Administration,
  actor: Actor,
  { expiresAt, ...settings }: RequestedAdminKey,
  call?: RepeatableCall,
): Promise<IssuedAdminKey> {
  return perform<IssuedAdminKey>(administration, actor, async (change) => {
    const earlier = await repeatedObject(change, call);
    if (earlier !== null) {
      return {
        result: { key: await knownAdminKey(change, earlier), secret: null },
        auditEntries: [],
      };
    }
    const { name } = settings;
    if ((await findLiveAdminKey(change.trx, name, change.now)) !== null) {
      throw takenName(adminKey.name, name);
    }
    const expiry = expiresAt ?? change.now + usualAge;
    assertInRange(expiry, change.now);
    const makerId = actor.kind === 'user' ? actor.id : null;
    const { id, secret } = await createStoredAdminKey(
      change,
      { ...settings, expiresAt: expiry },
      makerId,
    );
    if (call !== undefined) await keepCall(change, call, id);
    const key = await knownAdminKey(change, id);
    const { enabled: _, ...fields } = fieldsOf(adminKey, key as StoredAdminKey & RequestedAdminKey);
    return {
      result: { key, secret },
      auditEntries: [
        { action: 'create', subject: subjectOf(key), fields: compareFields({}, fields) },
      ],
    };
  });
}

/** @throws Refusal */
function assertInRange(expiry: number, now: number): void {
  if (expiry > now && expiry <= now + longestAge) return;
  const message = 'expected a time within the next 366 days';
  throw new Refusal('out-of-range', message, { field: 'expires_at' });
}

/**
 * Ends an admin key for good.
 * @param reference the name of a key in force, or an id
 * @throws Refusal for one that does not exist
 */
export function revokeAdminKey(
  administration: Administration,
  actor: Actor,
  reference: string,
): Promise<{ readonly key: StoredAdminKey; readonly changed: boolean }> {
  return perform(administration, actor, async (change) => {
    const before = await knownAdminKey(change, reference);
    await revokeStoredAdminKey(change, before.id);
    const key = await knownAdminKey(change, before.id);
    const fields = compareFields(revocationOf(before), revocationOf(key));
    const changed = fields.length > 0;
    return {
      result: { key, changed },
      auditEntries: changed ? [{ action: 'revoke', subject: subjectOf(key), fields }] : [],
    };
  });
}

/** @throws Refusal for one that does not exist */
async function knownAdminKey({ trx, now }: Change, reference: string): Promise<StoredAdminKey> {
  const key = (await findAdminKey(trx, reference)) ?? (await findLiveAdminKey(trx, reference, now));
  if (key === null) throw missingObject(adminKey.name, reference);
  return key;
}

const subjectOf = ({ id, name }: StoredAdminKey): AuditEntry['subject'] => ({
  kind: adminKey.name,
  id,
  name,
});

const revocationOf = ({ revokedAt }: StoredAdminKey) => ({
  revoked_at: revokedAt === null ? null : new Date(revokedAt).toISOString(),
});
