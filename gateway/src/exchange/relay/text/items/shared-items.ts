import type { KeptState, StateStore } from '#conversion/index.ts';
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

/** Of one request, the last ones: what is older says little to a model. */
const mostRecalled = 200;

/** The reasoning state that this process remembers, with a copy that other processes find. */
export function createSharedStates(own: StateStore, copies: SealedTexts): StateStore {
  return {
    ...own,
    keep(owner, name, kept) {
      own.keep(owner, name, kept);
      copies.keep(owner, new Map([[name, JSON.stringify(kept)]]));
    },
    async recall(owner, names) {
      const missing = [...new Set(names)].filter((name) => own.find(owner, name) === null);
      const found = await copies.find(owner, missing.slice(-mostRecalled));
      for (const [name, text] of found) own.keep(owner, name, JSON.parse(text) as KeptState);
    },
  };
}
