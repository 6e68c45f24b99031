/** A stream of numbers that a seed decides: the same seed gives the same inputs on any machine. */
export interface Random {
  /** An integer from 0 to `below` − 1. */
  below(below: number): number;
  /** True with a chance of one in `times`. */
  oneIn(times: number): boolean;
  /** One of the items, which must not be empty. */
  pick<Item>(items: readonly Item[]): Item;
}

/** mulberry32. @param seed any integer */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  return {
    below: (below) => next() % Math.max(1, below),
    oneIn: (times) => next() % times === 0,
    pick: (items) => items[next() % items.length]!,
  };
}

/** A seed from bytes (FNV-1a): what belongs to an input is drawn from the input itself. @param after what came before. */
export function seedOf(bytes: Uint8Array, after = 0x811c9dc5): number {
  let hash = after;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}
