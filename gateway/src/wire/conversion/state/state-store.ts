import type { NativeState, ReasoningBlock } from '#canonical/index.ts';

/** The state that must accompany a call or a text when it comes back. */
export interface KeptState {
  /** Who can read it: `makerId`. */
  readonly maker: string;
  /** The blocks before the call, in order. */
  readonly reasoning: readonly ReasoningBlock[];
  /** State on the call or text itself. */
  readonly call: NativeState | null;
}

/**
 * Remembers reasoning state for clients whose protocol has no place for it, or that do not return it: by owner (team or
 * user) and the `callKey` of a call or the `textKey` of a text, for an hour, in this process. Best effort.
 */
export interface StateStore {
  keep(owner: string, key: string, keptState: KeptState): void;
  find(owner: string, key: string): KeptState | null;
  /** The calls and texts of this owner with stored state. */
  callsOf(owner: string): string[];
  /** Brings what only other processes remember of these names, so that `find` finds it. Absent: there is nothing. */
  readonly recall?: (owner: string, names: readonly string[]) => Promise<void>;
}

export interface StateStoreOptions {
  readonly now: () => number;
  readonly ttlMs?: number;
  readonly maxEntries?: number;
  /** Total characters kept. */
  readonly maxSize?: number;
}

interface Entry {
  readonly keptState: KeptState;
  readonly size: number;
  readonly until: number;
}

/** In memory, bounded by time, entries and bytes; the oldest entries go first. */
export function createStateStore({
  now,
  ttlMs = 3_600_000,
  maxEntries = 10_000,
  maxSize = 32 * 1024 * 1024,
}: StateStoreOptions): StateStore {
  /** In insertion order, which is also the order of expiry. */
  const entries = new Map<string, Entry>();
  let size = 0;

  const remove = (key: string, entry: Entry): void => {
    entries.delete(key);
    size -= entry.size;
  };
  const makeRoom = (): void => {
    for (const [key, entry] of entries) {
      if (entry.until > now() && entries.size <= maxEntries && size <= maxSize) return;
      remove(key, entry);
    }
  };

  return {
    keep(owner, name, keptState) {
      const key = `${owner} ${name}`;
      const oldEntry = entries.get(key);
      if (oldEntry !== undefined) remove(key, oldEntry);
      const entry = { keptState, size: key.length + sizeOf(keptState), until: now() + ttlMs };
      entries.set(key, entry);
      size += entry.size;
      makeRoom();
    },
    find(owner, name) {
      const entry = entries.get(`${owner} ${name}`);
      return entry !== undefined && entry.until > now() ? entry.keptState : null;
    },
    callsOf(owner) {
      const mark = `${owner} `;
      return [...entries.keys()]
        .filter((key) => key.startsWith(mark))
        .map((key) => key.slice(mark.length));
    },
  };
}

function sizeOf({ reasoning, call }: KeptState): number {
  let size = call?.data.length ?? 0;
  for (const { text, state } of reasoning) size += text.length + (state?.data.length ?? 0);
  return size;
}
