import type { KeptState, StateStore } from '#conversion/index.ts';

/** One output item of a response. */
export interface RememberedItem {
  readonly id: string;
  /** JSON. */
  readonly text: string;
}

/**
 * Remembers the output items of converted responses, which no upstream stores, so that clients may name them by their
 * ids in later requests. By owner (team or user).
 */
export interface ItemMemory {
  /** Remembers the items of one response, all or none. */
  keep(owner: string, items: readonly RememberedItem[]): void;
  /** The texts of those that are known, by id. */
  find(
    owner: string,
    ids: readonly string[],
  ): ReadonlyMap<string, string> | Promise<ReadonlyMap<string, string>>;
}

export interface ItemMemoryOptions {
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number;
  /** Bytes; 0: nothing is remembered. */
  readonly maxBytes: number;
}

const keptMs = 3_600_000;
/** Of one response. */
const mostBytes = 1024 * 1024;
/** What an entry takes in addition to its texts. */
const entryBytes = 200;

interface Entry {
  readonly text: string;
  readonly bytes: number;
  readonly until: number;
}

/** In this process, for an hour; the oldest items make room for new ones. */
export function createItemMemory({ now, maxBytes }: ItemMemoryOptions): ItemMemory {
  /** In the order of their age. */
  const entries = new Map<string, Entry>();
  let bytes = 0;

  const drop = (key: string, entry: Entry): void => {
    entries.delete(key);
    bytes -= entry.bytes;
  };

  return {
    keep(owner, items) {
      // A character of a text takes two bytes at most.
      const sizes = items.map(
        ({ id, text }) => entryBytes + 2 * (owner.length + id.length + text.length),
      );
      const total = sizes.reduce((sum, size) => sum + size, 0);
      if (total > Math.min(mostBytes, maxBytes)) return;
      for (const [at, { id, text }] of items.entries()) {
        const key = `${owner} ${id}`;
        const oldEntry = entries.get(key);
        if (oldEntry !== undefined) drop(key, oldEntry);
        entries.set(key, { text, bytes: sizes[at]!, until: now() + keptMs });
      }
      bytes += total;
      for (const [key, entry] of entries) {
        if (bytes <= maxBytes && entry.until > now()) break;
        drop(key, entry);
      }
    },
    find(owner, ids) {
      const foundTexts = new Map<string, string>();
      for (const id of ids) {
        const entry = entries.get(`${owner} ${id}`);
        if (entry !== undefined && entry.until > now()) foundTexts.set(id, entry.text);
      }
      return foundTexts;
    },
  };
}

/** What several processes share. Keys and values are texts. */
export interface SharedTexts {
  keep(values: ReadonlyMap<string, string>, seconds: number): void;
  find(keys: readonly string[]): Promise<ReadonlyMap<string, string>>;
}

/** Texts of an owner (team or user) that every process finds by their names. */
export interface SealedTexts {
  /** All or none: they belong together. */
  keep(owner: string, texts: ReadonlyMap<string, string>): void;
  /** Those that are known, by name. */
  find(owner: string, names: readonly string[]): Promise<ReadonlyMap<string, string>>;
}

export interface SealedTextsOptions {
  /** What the texts are; part of their keys. */
  readonly kind: 'item' | 'state';
  readonly shared: SharedTexts;
  /** Encrypts a text for a place, so that others with access to what is shared cannot read it. */
  readonly seal: (text: string, place: string) => string;
  /** @throws Error if it was not sealed for this place */
  readonly open: (sealedText: string, place: string) => string;
  /** A key for a place that does not reveal it. */
  readonly digest: (place: string) => string;
}

const keptSeconds = 3_600;
/** Of one response, in characters. */
const mostShared = 256 * 1024;

/** Shares texts in a form that only gateways with the same master key read. */
export function createSealedTexts(options: SealedTextsOptions): SealedTexts {
  const { kind, shared, seal, open, digest } = options;
  const placeOf = (owner: string, name: string): string => `${kind} ${owner} ${name}`;
  const keyOf = (place: string): string => `sluice:${kind}:${digest(place)}`;

  return {
    keep(owner, texts) {
      let size = 0;
      for (const text of texts.values()) size += text.length;
      if (size > mostShared) return;
      const sealedText = Array.from(texts, ([name, text]) => {
        const place = placeOf(owner, name);
        return [keyOf(place), seal(text, place)] as const;
      });
      shared.keep(new Map(sealedText), keptSeconds);
    },
    async find(owner, names) {
      const foundTexts = new Map<string, string>();
      if (names.length === 0) return foundTexts;
      const places = names.map((name) => [name, placeOf(owner, name)] as const);
      const values = await shared.find(places.map(([, place]) => keyOf(place)));
      for (const [name, place] of places) {
        const sealedText = values.get(keyOf(place));
        const text = sealedText === undefined ? null : openedText(sealedText, place);
        if (text !== null) foundTexts.set(name, text);
      }
      return foundTexts;
    },
  };

  function openedText(sealedText: string, place: string): string | null {
    try {
      return open(sealedText, place);
    } catch {
      // Altered, or of a gateway with another master key.
      return null;
    }
  }
}

/** The memory of this process, with a copy that other processes find. */
export function createSharedItems(own: ItemMemory, copies: SealedTexts): ItemMemory {
  return {
    keep(owner, items) {
      own.keep(owner, items);
      copies.keep(owner, new Map(items.map(({ id, text }) => [id, text])));
    },
    async find(owner, ids) {
      const ownTexts = await own.find(owner, ids);
      const missingNames = ids.filter((id) => !ownTexts.has(id));
      return new Map([...ownTexts, ...(await copies.find(owner, missingNames))]);
    },
  };
}

/** Of one request, the last ones: what is older says little to a model. */
const mostRecalled = 200;

/** The reasoning state that this process remembers, with a copy that other processes find. */
export function createSharedStates(own: StateStore, copies: SealedTexts): StateStore {
  return {
    ...own,
    keep(owner, name, keptState) {
      own.keep(owner, name, keptState);
      copies.keep(owner, new Map([[name, JSON.stringify(keptState)]]));
    },
    async recall(owner, names) {
      const missingNames = [...new Set(names)].filter((name) => own.find(owner, name) === null);
      const foundTexts = await copies.find(owner, missingNames.slice(-mostRecalled));
      for (const [name, text] of foundTexts) own.keep(owner, name, JSON.parse(text) as KeptState);
    },
  };
}
