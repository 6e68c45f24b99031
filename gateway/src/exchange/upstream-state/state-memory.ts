import type { KnownState } from './upstream-state.repository.ts';

/** What this process knows of ids without asking. Bounded; what was not asked for the longest goes first. */
export interface StateMemory {
  note(state: KnownState): void;
  /** Everybody whom the id was given, as far as it is remembered here. */
  recall(id: string): readonly KnownState[];
}

const nobody: readonly KnownState[] = Object.freeze([]);

/** @param maxIds a quarter of a kilobyte each */
export function createStateMemory(maxIds = 40_000): StateMemory {
  // Two generations instead of one list in the order of use: nothing is moved or searched on a hit.
  const generationSize = Math.max(1, maxIds / 2);
  let younger = new Map<string, readonly KnownState[]>();
  let older = new Map<string, readonly KnownState[]>();

  function keep(id: string, known: readonly KnownState[]): void {
    if (younger.size >= generationSize && !younger.has(id)) {
      older = younger;
      younger = new Map();
    }
    younger.set(id, known);
  }

  return {
    note(state) {
      const known = younger.get(state.id) ?? older.get(state.id) ?? nobody;
      keep(state.id, [...known.filter(({ owner }) => owner !== state.owner).slice(-7), state]);
    },
    recall(id) {
      const known = younger.get(id);
      if (known !== undefined) return known;
      const before = older.get(id);
      if (before === undefined) return nobody;
      keep(id, before);
      return before;
    },
  };
}
