/**
 * Counts the requests of each key in flight in this process, so that no key takes every slot. For keys without a
 * `max_concurrency` of their own, which is counted for all nodes together.
 */
export interface KeySlots {
  /** False if the key has reached its limit. `leave` releases one slot, once. */
  tryEnter(keyId: string): boolean;
  leave(keyId: string): void;
}

/** @param limit per key */
export function createKeySlots(limit: number): KeySlots {
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
