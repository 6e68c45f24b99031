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
/** What an entry takes beside its texts. */
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
        const old = entries.get(key);
        if (old !== undefined) drop(key, old);
        entries.set(key, { text, bytes: sizes[at]!, until: now() + keptMs });
      }
      bytes += total;
      for (const [key, entry] of entries) {
        if (bytes <= maxBytes && entry.until > now()) break;
        drop(key, entry);
      }
    },
    find(owner, ids) {
      const found = new Map<string, string>();
      for (const id of ids) {
        const entry = entries.get(`${owner} ${id}`);
        if (entry !== undefined && entry.until > now()) found.set(id, entry.text);
      }
      return found;
    },
  };
}
