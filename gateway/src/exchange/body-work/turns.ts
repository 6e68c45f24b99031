/** A queue that serves keys in turn, so that one key's many items do not delay another's single one. */
export interface Turns<Item> {
  add(key: string, item: Item): void;
  /** The first item of the next key; undefined if the queue is empty. */
  take(): Item | undefined;
  /** False if the item is not in the queue. */
  remove(key: string, item: Item): boolean;
}

export function createTurns<Item>(): Turns<Item> {
  /** By key, in the order of their turns; no list is empty. */
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
        // Moves the key behind all others.
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
