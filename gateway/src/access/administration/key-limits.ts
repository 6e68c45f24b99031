import { type DeclaredKey, isWithinRanges, kinds } from '#config/index.ts';
import { parseUsd } from '#database/index.ts';
import {
  type LimitName,
  type LimitSetters,
  type Rank,
  ranks,
  type StoredKey,
} from '#identity/index.ts';

/** Settings of a key that may be changed. */
export type ChangedSettings = Partial<Omit<DeclaredKey, 'name' | 'user' | 'secret'>>;

const limits = kinds.key.list.filter(({ limit }) => limit === true);
const limitNames = limits.map(({ property }) => property as LimitName);

/** Who has set the limits of a new key. */
export function settersOfNew(key: ChangedSettings, rank: Rank): LimitSetters {
  return Object.fromEntries(
    limitNames.filter((limit) => isSet(key[limit])).map((limit) => [limit, rank]),
  );
}

/** The first limit that somebody above has set and that would be loosened, named as in the file; null: none. */
export function loosenedAbove(before: StoredKey, after: StoredKey, rank: Rank): string | null {
  const limit = limitNames.findIndex(
    (each) => isAbove(setterOf(before, each), rank) && !isSameOrTighter(each, before, after),
  );
  return limits[limit]?.name ?? null;
}

/** Who has set the limits of a key after a change by somebody of this rank. */
export function settersAfter(before: StoredKey, after: StoredKey, rank: Rank): LimitSetters {
  const setters: Partial<Record<LimitName, Rank>> = {};
  for (const limit of limitNames) {
    const setter = setterOf(before, limit);
    const isChanged = !isSame(before[limit], after[limit]);
    // Whoever tightens the limit of somebody above does not become the one who may loosen it.
    const next = isChanged && !isAbove(setter, rank) ? rank : setter;
    if (next !== null && next !== 'admin' && isSet(after[limit])) setters[limit] = next;
  }
  return setters;
}

/** Null: the limit is not set. */
function setterOf(key: StoredKey, limit: LimitName): Rank | null {
  return isSet(key[limit]) ? (key.limitsSetBy[limit] ?? 'admin') : null;
}

const isAbove = (setter: Rank | null, rank: Rank) =>
  setter !== null && ranks.indexOf(setter) < ranks.indexOf(rank);

type LimitValue = ChangedSettings[LimitName];

/** Whether a value limits anything. */
function isSet(value: LimitValue): boolean {
  if (value === undefined || value === null || value === true) return false;
  return Array.isArray(value) ? value.length > 0 : true;
}

const isSame = (a: LimitValue, b: LimitValue) => JSON.stringify(a) === JSON.stringify(b);

function isSameOrTighter(limit: LimitName, before: StoredKey, after: StoredKey): boolean {
  const [old, next] = [before[limit], after[limit]];
  if (isSame(old, next)) return true;
  if (!isSet(next)) return !isSet(old);
  if (Array.isArray(old)) {
    const isIn = (each: string): boolean =>
      limit === 'ips' ? isWithinRanges(each, old) : old.includes(each);
    return (next as readonly string[]).every(isIn);
  }
  if (limit === 'quota') return parseUsd(String(next)) <= parseUsd(String(old));
  return typeof old === 'number' && typeof next === 'number' && next <= old;
}
