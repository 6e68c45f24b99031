/**
 * How many requests each key has under way in this process, so that no key takes every place. For keys that have no
 * `max_concurrency` of their own, which is counted for all nodes together.
 */
export interface KeyPlaces {
  /** False when the key has as many as it may. `leave` gives one back, once. */
  tryEnter(keyId: string): boolean;
  leave(keyId: string): void;
}

/** @param limit of each key */
export function createKeyPlaces(limit: number): KeyPlaces {
  const taken = new Map<string, number>();
  return {
    tryEnter(keyId) {
      const count = taken.get(keyId) ?? 0;
      if (count >= limit) return false;
      taken.set(keyId, count + 1);
      return true;
    },
    leave(keyId) {
      const count = taken.get(keyId) ?? 0;
      if (count > 1) taken.set(keyId, count - 1);
      else taken.delete(keyId);
    },
  };
}
