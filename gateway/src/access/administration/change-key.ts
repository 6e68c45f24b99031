import { kinds } from '#config/index.ts';
import { compareFields, fieldsOf } from '#declaration/index.ts';
import {
  findKey,
  noteLimitSetters,
  type Rank,
  type StoredKey,
  upsertKey,
} from '#identity/index.ts';
import type { Actor } from './audit.ts';
import { type ChangedSettings, loosenedAbove, settersAfter } from './key-limits.ts';
import { checkNames } from './check-names.ts';
import { type KeyReference, knownKey } from './keys.ts';
import { type Administration, perform } from './perform.ts';
import { Refusal, Stale } from './refusal.ts';

export interface KeyChange {
  readonly key: KeyReference;
  /** The key as whoever changes it has seen it. */
  readonly revision: number;
  readonly settings: ChangedSettings;
  /** What the actor has to say over this key. */
  readonly rankOver: (key: StoredKey) => Rank;
}

/**
 * Changes settings of a key.
 * @throws Refusal for a key that does not exist, is the file's, or is revoked, for a name that does not exist, and for a
 *   limit that somebody above has set and that would be loosened; Stale
 */
export function changeKey(
  administration: Administration,
  actor: Actor,
  { key: reference, revision, settings, rankOver }: KeyChange,
): Promise<StoredKey> {
  return perform(administration, actor, async (change) => {
    const before = await knownKey(change, reference);
    const { name } = before;
    if (before.owner === 'file') {
      throw new Refusal('managed-elsewhere', `key '${name}' is managed in the configuration file`);
    }
    if (before.revision !== revision) throw new Stale('key', name, before);
    if (before.revokedAt !== null) throw new Refusal('state', `key '${name}' is revoked`);
    const after = { ...before, ...settings };
    const rank = rankOver(before);
    const field = loosenedAbove(before, after, rank);
    if (field !== null) {
      const message = `${field}: somebody above you has set this limit, so you may only tighten it`;
      throw new Refusal('above', message, { field });
    }
    await checkNames(change, kinds.key, after);
    if ((await upsertKey(change, { ...after, secret: null })) === 'unchanged') {
      return { result: before, auditEntries: [] };
    }
    await noteLimitSetters(change, name, settersAfter(before, after, rank));
    const result = await findKey(change.trx, name);
    if (result === null) throw new Error(`key '${name}' does not exist`);
    const fields = compareFields(
      fieldsOf(kinds.key, before, before.prefix),
      fieldsOf(kinds.key, result, result.prefix),
    );
    const subject = { kind: 'key', id: before.id, name } as const;
    return { result, auditEntries: [{ action: 'update', subject, fields }] };
  });
}
