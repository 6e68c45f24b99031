/** What waits, taken in turn by key, so that one key's many do not delay another's one. */
export interface Turns<Item> {
  add(key: string, item: Item): void;
  /** The first of the key whose turn it is; undefined when nothing waits. */
  take(): Item | undefined;
  /** False when it does not wait. */
  remove(key: string, item: Item): boolean;
}

export function createTurns<Item>(): Turns<Item> {
  /** By key, in the order of their turns; none is empty. */
  const waiting = new Map<string, Item[]>();
  return {
    add(key, item) {
      const own = waiting.get(key);
      if (own === undefined) waiting.set(key, [item]);
      else own.push(item);
    },
    take() {
      for (const [key, own] of waiting) {
        const item = own.shift();
        // Behind all others.
        waiting.delete(key);
        if (own.length > 0) waiting.set(key, own);
        return item;
      }
      return undefined;
    },
    remove(key, item) {
      const own = waiting.get(key);
      const at = own?.indexOf(item) ?? -1;
      if (own === undefined || at === -1) return false;
      own.splice(at, 1);
      if (own.length === 0) waiting.delete(key);
      return true;
    },
  };
}
