import { kinds } from '#config/index.ts';
import type { Change } from '#database/index.ts';
import {
  listKeys,
  noteLimitSetters,
  type Rank,
  type Reach,
  type StoredKey,
  upsertKey,
} from '#identity/index.ts';
import type { Actor } from './audit.ts';
import { checkNames } from './names-in-force.ts';
import { changeSeen } from './entries.ts';
import { type ChangedSettings, loosenedAbove, settersAfter } from './key-limits.ts';
import type { Administration } from './perform.ts';
import { Refusal } from './refusal.ts';

export interface KeyChange {
  readonly id: string;
  /** Whose keys the actor may change; absent: everybody's. */
  readonly within?: Reach;
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
  { id, within, revision, settings, rankOver }: KeyChange,
): Promise<StoredKey> {
  const source = {
    kind: kinds.key,
    find: async ({ trx }: Pick<Change, 'trx'>) =>
      (await listKeys(trx, { id, ...(within !== undefined && { within }) }))[0] ?? null,
  };
  return changeSeen(administration, actor, source, { id, revision }, async (change, before) => {
    const { name } = before;
    if (before.revokedAt !== null) throw new Refusal('state', `key '${name}' is revoked`);
    const after = { ...before, ...settings };
    const rank = rankOver(before);
    const field = loosenedAbove(before, after, rank);
    if (field !== null) {
      const message = `${field}: somebody above you has set this limit, so you may only tighten it`;
      throw new Refusal('above', message, { field });
    }
    await checkNames(change, kinds.key, after, before);
    if ((await upsertKey(change, { ...after, secret: null })) === 'unchanged') return;
    await noteLimitSetters(change, name, settersAfter(before, after, rank));
  });
}
