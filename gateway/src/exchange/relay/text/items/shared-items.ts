import type { ItemMemory } from './item-memory.ts';
import type { SealedTexts } from './sealed-texts.ts';

/** The memory of this process, with a copy that other processes find. */
export function createSharedItems(own: ItemMemory, copies: SealedTexts): ItemMemory {
  return {
    keep(owner, items) {
      own.keep(owner, items);
      copies.keep(owner, new Map(items.map(({ id, text }) => [id, text])));
    },
    async find(owner, ids) {
      const known = await own.find(owner, ids);
      const missing = ids.filter((id) => !known.has(id));
      return new Map([...known, ...(await copies.find(owner, missing))]);
    },
  };
}
