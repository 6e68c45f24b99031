import type { ItemMemory } from './item-memory.ts';

/** What several processes share. Keys and values are texts. */
export interface SharedTexts {
  keep(values: ReadonlyMap<string, string>, seconds: number): void;
  find(keys: readonly string[]): Promise<ReadonlyMap<string, string>>;
}

export interface SharedItemsOptions {
  readonly own: ItemMemory;
  readonly shared: SharedTexts;
  /** Encrypts a text for a place, so that others with access to what is shared cannot read it. */
  readonly seal: (text: string, place: string) => string;
  /** @throws Error if it was not sealed for this place */
  readonly open: (sealed: string, place: string) => string;
  /** A key for a place that does not reveal it. */
  readonly digest: (place: string) => string;
}

const keptSeconds = 3_600;
/** Of one response, in characters. */
const mostShared = 256 * 1024;

/** The memory of this process, with a copy that other processes find. */
export function createSharedItems(options: SharedItemsOptions): ItemMemory {
  const { own, shared, seal, open, digest } = options;
  const placeOf = (owner: string, id: string): string => `item ${owner} ${id}`;
  const keyOf = (place: string): string => `sluice:item:${digest(place)}`;

  return {
    keep(owner, items) {
      own.keep(owner, items);
      if (items.reduce((sum, { text }) => sum + text.length, 0) > mostShared) return;
      const sealed = items.map(({ id, text }) => {
        const place = placeOf(owner, id);
        return [keyOf(place), seal(text, place)] as const;
      });
      shared.keep(new Map(sealed), keptSeconds);
    },
    async find(owner, ids) {
      const found = new Map(await own.find(owner, ids));
      const missing = ids
        .filter((id) => !found.has(id))
        .map((id) => [id, placeOf(owner, id)] as const);
      if (missing.length === 0) return found;
      const values = await shared.find(missing.map(([, place]) => keyOf(place)));
      for (const [id, place] of missing) {
        const sealed = values.get(keyOf(place));
        const text = sealed === undefined ? null : opened(sealed, place);
        if (text !== null) found.set(id, text);
      }
      return found;
    },
  };

  function opened(sealed: string, place: string): string | null {
    try {
      return open(sealed, place);
    } catch {
      // Altered, or of a gateway with another master key.
      return null;
    }
  }
}
