import { type DeclaredKey, kinds, parseDuration } from '#config/index.ts';
import type { Change } from '#database/index.ts';
import { compareFields, exportKey, type FieldChange, fieldsOf } from '#declaration/index.ts';
import {
  countKeys,
  createKey as createStoredKey,
  findKey,
  findUserByEmail,
  keepCall,
  type KeyFilter,
  listKeys as listStoredKeys,
  noteLimitSetters,
  type Rank,
  type Reach,
  type RepeatableCall,
  revokeKey as revokeStoredKey,
  rotateKey as rotateStoredKey,
  type StoredKey,
} from '#identity/index.ts';
import type { Actor, AuditEntry } from './audit.ts';
import { checkNames } from './names-in-force.ts';
import { settersOfNew } from './key-limits.ts';
import { type Administration, type Done, perform, noChange } from './perform.ts';
import { missingObject, Refusal, takenName } from './refusal.ts';
import { repeatedObject } from './repetition.ts';

export type KeySettings = Omit<DeclaredKey, 'secret'>;

/** A key as an entry of the file's `keys`, without its secret. */
export const entryOfKey = (key: StoredKey): string => exportKey(key);

/** A key with its new secret, which is kept nowhere in clear text. */
export interface IssuedKey {
  readonly key: StoredKey;
  readonly secret: string;
}

/** The same; without the secret where the call is a repetition. */
export interface RepeatedKey {
  readonly key: StoredKey;
  readonly secret: string | null;
}

/** A key by its name, otherwise by its id; or by its id alone, where it must be within somebody's reach if that is given. */
export type KeyReference = string | { readonly id: string; readonly within?: Reach };

/** What counts for a key that a person makes. */
export interface KeyMaking {
  /** What the person has to say over the key. */
  readonly rank: Rank;
  /** How many keys its user may have; null: any number. */
  readonly most: number | null;
  /** Absent: the call is not repeated. */
  readonly call?: RepeatableCall;
}

/** How long an old secret stays valid if nothing is said. */
export const usualGrace = '24h';
const longestGrace = 90 * 86_400_000;

/** Milliseconds of a text such as `30m`; null: it is no duration, or too long. */
export function parseGrace(text: string): number | null {
  const grace = parseDuration(text);
  return grace === null || grace > longestGrace ? null : grace;
}

/** What a grace period has to be, for whoever wrote another one. */
export const graceRule = 'a time up to 90d such as 24h or 30m';

export interface RotatedKey extends IssuedKey {
  /** How long the old secret stays valid. Unix milliseconds; null: it is not valid any more. */
  readonly previousUntil: number | null;
}

export interface RevokedKey {
  readonly key: StoredKey;
  /** False: it was revoked before. */
  readonly changed: boolean;
}

/**
 * Creates a key. A key that the file declares without a secret gets one and keeps its declared settings.
 * @throws Refusal for a user, team, group or model that does not exist, or a name whose key has a secret.
 */
export function createKey(
  administration: Administration,
  actor: Actor,
  settings: KeySettings,
): Promise<IssuedKey> {
  return perform(administration, actor, (change) => create(change, settings));
}

/**
 * Creates a key for a person.
 * @throws Refusal as `createKey` does; also for somebody who has as many keys as allowed, and for a repeated call that asks
 *   for something else.
 */
export function createOwnKey(
  administration: Administration,
  actor: Actor,
  settings: KeySettings,
  { rank, most, call }: KeyMaking,
): Promise<RepeatedKey> {
  return perform<RepeatedKey>(administration, actor, async (change) => {
    const repeatedCall = await repetition(change, call);
    if (repeatedCall !== null)
      return { result: { key: repeatedCall, secret: null }, auditEntries: [] };
    const before = await findByName(change, settings.name);
    // Otherwise a person would get the secret of a key that the file declares for another one.
    if (before !== null && !isOf(before, settings.user)) throw takenName('key', settings.name);
    if (most !== null && before === null) await assertRoom(change, settings.user, most);
    const issuedKey = await create(change, settings);
    const { id, name } = issuedKey.result.key;
    if (before === null) await noteLimitSetters(change, name, settersOfNew(settings, rank));
    if (call !== undefined) await keepCall(change, call, id);
    return issuedKey;
  });
}

async function create(change: Change, settings: KeySettings): Promise<Done<IssuedKey>> {
  await checkNames(change, kinds.key, settings);
  const before = await findByName(change, settings.name);
  const result = await createStoredKey(change, settings);
  if (before === null) return { result, auditEntries: [creation(result.key)] };
  const subject = { kind: 'key', id: before.id, name: before.name } as const;
  return { result, auditEntries: [{ action: 'update', subject, fields: [secretChange] }] };
}

/** The key that an earlier call of this name has made; null: this is the first. */
async function repetition(
  change: Change,
  call: RepeatableCall | undefined,
): Promise<StoredKey | null> {
  const earlier = await repeatedObject(change, call);
  return earlier === null ? null : knownKey(change, { id: earlier });
}

async function assertRoom(change: Change, email: string, most: number): Promise<void> {
  const user = await findUserByEmail(change.trx, email);
  if (user === null || (await countKeys(change, user.id)) < most) return;
  throw new Refusal(
    'state',
    `you have ${most} keys, which is as many as allowed: revoke one first`,
  );
}

/**
 * Creates a key if there is none at all and its user exists; null otherwise.
 * @param keep receives the key's id before the transaction ends; if it throws, nothing is created
 */
export function createFirstKey(
  administration: Administration,
  actor: Actor,
  settings: KeySettings,
  keep: (id: string) => void,
): Promise<IssuedKey | null> {
  return perform(administration, actor, async (change) => {
    if ((await listStoredKeys(change.trx, { limit: 1 })).length > 0) return noChange;
    if ((await findUserByEmail(change.trx, settings.user)) === null) return noChange;
    const result = await createStoredKey(change, settings);
    keep(result.key.id);
    return { result, auditEntries: [creation(result.key)] };
  });
}

/** Which secret is replaced. */
export interface Rotation {
  readonly key: KeyReference;
  /** Milliseconds for which the old one stays valid. */
  readonly grace: number;
}

/**
 * Replaces a key's secret.
 * @throws Refusal for a key that does not exist, or has no secret that this actor may replace.
 */
export function rotateKey(
  administration: Administration,
  actor: Actor,
  rotation: Rotation,
): Promise<RotatedKey> {
  return perform(administration, actor, (change) => rotate(change, rotation));
}

/**
 * Replaces a key's secret for a person.
 * @param call undefined: the call is not repeated
 * @throws Refusal as `rotateKey` does, and for a repeated call that asks for something else.
 */
export function rotateOwnKey(
  administration: Administration,
  actor: Actor,
  rotation: Rotation,
  call: RepeatableCall | undefined,
): Promise<RepeatedKey> {
  return perform<RepeatedKey>(administration, actor, async (change) => {
    const repeatedCall = await repetition(change, call);
    if (repeatedCall !== null)
      return { result: { key: repeatedCall, secret: null }, auditEntries: [] };
    const rotated = await rotate(change, rotation);
    if (call !== undefined) await keepCall(change, call, rotated.result.key.id);
    return rotated;
  });
}

async function rotate(
  change: Change,
  { key: reference, grace }: Rotation,
): Promise<Done<RotatedKey>> {
  const { id, name } = await knownKey(change, reference);
  const issuedKey = await rotateStoredKey(change, name, grace);
  const previousUntil = grace > 0 ? change.now + grace : null;
  const validity = compareFields(
    { previous_valid_until: null },
    { previous_valid_until: asTime(previousUntil) },
  );
  return {
    result: { ...issuedKey, previousUntil },
    auditEntries: [
      { action: 'rotate', subject: { kind: 'key', id, name }, fields: [secretChange, ...validity] },
    ],
  };
}

/**
 * Ends a key for good, whoever owns it. Its usage stays on record.
 * @throws Refusal for a key that does not exist.
 */
export function revokeKey(
  administration: Administration,
  actor: Actor,
  reference: KeyReference,
): Promise<RevokedKey> {
  return perform(administration, actor, async (change) => {
    const key = await knownKey(change, reference);
    const hasChanged = await revokeStoredKey(change, key.name);
    return {
      result: { key, changed: hasChanged },
      auditEntries: hasChanged
        ? [
            {
              action: 'revoke',
              subject: { kind: 'key', id: key.id, name: key.name },
              fields: compareFields({ revoked_at: null }, { revoked_at: asTime(change.now) }),
            },
          ]
        : [],
    };
  });
}

/** Keys by name, without their secrets. */
export function listKeys(
  { database }: Pick<Administration, 'database'>,
  filter: KeyFilter = {},
): Promise<StoredKey[]> {
  return listStoredKeys(database.kysely, filter);
}

function creation(key: StoredKey): AuditEntry {
  const fields = compareFields({}, fieldsOf(kinds.key, key, key.prefix));
  return { action: 'create', subject: { kind: 'key', id: key.id, name: key.name }, fields };
}

/** @throws Refusal for one that does not exist */
export async function knownKey({ trx }: Change, reference: KeyReference): Promise<StoredKey> {
  const key =
    typeof reference === 'string'
      ? await findKey(trx, reference)
      : (await listStoredKeys(trx, reference))[0];
  if (key == null)
    throw missingObject('key', typeof reference === 'string' ? reference : reference.id);
  return key;
}

const isOf = (key: StoredKey, email: string) => key.user === email.trim().toLowerCase();

/** A key's id may be another key's name, but creates none of that name. */
async function findByName(change: Change, name: string): Promise<StoredKey | null> {
  const key = await findKey(change.trx, name);
  return key?.name === name ? key : null;
}

const secretChange: FieldChange = { field: 'secret', before: null, after: null, secret: true };

function asTime(milliseconds: number | null): string | null {
  return milliseconds === null ? null : new Date(milliseconds).toISOString();
}
