import {
  bundledAliases,
  bundledModels,
  listAliases,
  listGroups,
  listModels,
} from '#catalogue/index.ts';
import { type DeclaredKey, parseDuration } from '#config/index.ts';
import type { Change } from '#database/index.ts';
import { compareFields, type FieldChange, views } from '#declaration/index.ts';
import {
  createKey as createStoredKey,
  findKey,
  findUserByEmail,
  type KeyFilter,
  listKeys as listStoredKeys,
  listTeams,
  revokeKey as revokeStoredKey,
  rotateKey as rotateStoredKey,
  type StoredKey,
} from '#identity/index.ts';
import type { Actor } from './actor.ts';
import type { AuditEntry } from './audit.ts';
import { type Administration, perform, unchanged } from './perform.ts';
import { missing, taken } from './refusal.ts';

export type KeySettings = Omit<DeclaredKey, 'secret'>;

/** A key with its new secret, which is kept nowhere in clear text. */
export interface IssuedKey {
  readonly key: StoredKey;
  readonly secret: string;
}

/** A key by its name, otherwise by its id; or by its id alone, where it must belong to the person if there is one. */
export type KeyReference = string | { readonly id: string; readonly userId?: string };

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
  return perform(administration, actor, async (change) => {
    await checkNames(change, settings);
    const before = await findByName(change, settings.name);
    // Otherwise a person would get the secret of a key that the file declares for another one.
    if (actor.kind === 'user' && before !== null && !isOf(before, settings.user)) {
      throw taken('key', settings.name);
    }
    const result = await createStoredKey(change, settings);
    if (before === null) return { result, audited: [creation(result.key)] };
    const subject = { kind: 'key', id: before.id, name: before.name } as const;
    return { result, audited: [{ action: 'update', subject, fields: [secretChange] }] };
  });
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
    if ((await listStoredKeys(change.trx, { limit: 1 })).length > 0) return unchanged;
    if ((await findUserByEmail(change.trx, settings.user)) === null) return unchanged;
    const result = await createStoredKey(change, settings);
    keep(result.key.id);
    return { result, audited: [creation(result.key)] };
  });
}

/**
 * Replaces a key's secret. The old one stays valid for `grace` milliseconds.
 * @throws Refusal for a key that does not exist, or has no secret that this actor may replace.
 */
export function rotateKey(
  administration: Administration,
  actor: Actor,
  { key: reference, grace }: { readonly key: KeyReference; readonly grace: number },
): Promise<RotatedKey> {
  return perform(administration, actor, async (change) => {
    const { id, name } = await knownKey(change, reference);
    const issued = await rotateStoredKey(change, name, grace);
    const previousUntil = grace > 0 ? change.now + grace : null;
    return {
      result: { ...issued, previousUntil },
      audited: [
        {
          action: 'rotate',
          subject: { kind: 'key', id, name },
          fields: [
            secretChange,
            ...compareFields(
              { previous_valid_until: null },
              { previous_valid_until: asTime(previousUntil) },
            ),
          ],
        },
      ],
    };
  });
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
    const changed = await revokeStoredKey(change, key.name);
    return {
      result: { key, changed },
      audited: changed
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
  const fields = compareFields({}, views.key(key, key.prefix));
  return { action: 'create', subject: { kind: 'key', id: key.id, name: key.name }, fields };
}

async function knownKey({ trx }: Change, reference: KeyReference): Promise<StoredKey> {
  const key =
    typeof reference === 'string'
      ? await findKey(trx, reference)
      : (await listStoredKeys(trx, reference))[0];
  if (key == null) throw missing('key', typeof reference === 'string' ? reference : reference.id);
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

/** @throws Refusal naming the first that does not exist. */
async function checkNames({ trx }: Change, key: KeySettings): Promise<void> {
  const user = await findUserByEmail(trx, key.user);
  if (user?.enabled !== true) throw missing('user', key.user);
  if (key.team !== null) {
    const teams = await listTeams(trx);
    if (!teams.some(({ name, enabled }) => enabled && name === key.team)) {
      throw missing('team', key.team);
    }
  }
  if (key.group !== 'default') {
    const groups = await listGroups(trx);
    if (!groups.some(({ name, enabled }) => enabled && name === key.group)) {
      throw missing('group', key.group);
    }
  }
  if (key.models.length === 0) return;
  const known = new Set([
    ...bundledModels.map(({ id }) => id),
    ...bundledAliases.keys(),
    ...(await listModels(trx)).map(({ id }) => id),
    ...(await listAliases(trx)).filter(({ enabled }) => enabled).map(({ name }) => name),
  ]);
  const unknown = key.models.find((model) => !known.has(model));
  if (unknown !== undefined) throw missing('model', unknown);
}
