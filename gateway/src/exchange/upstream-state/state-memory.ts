import type { KnownState } from './upstream-state.repository.ts';

/** The ids that this process knows without a query. Bounded; the least recently used goes first. */
export interface StateMemory {
  note(state: KnownState): void;
  /** Every owner that received the id, as far as remembered here. */
  recall(id: string): readonly KnownState[];
}

const nobody: readonly KnownState[] = Object.freeze([]);

/** @param maxIds about a quarter of a kilobyte each */
export function createStateMemory(maxIds = 40_000): StateMemory {
  // Two generations instead of a list in order of use: a hit moves and searches nothing.
  const generationSize = Math.max(1, maxIds / 2);
  let younger = new Map<string, readonly KnownState[]>();
  let older = new Map<string, readonly KnownState[]>();

  function keep(id: string, knownStates: readonly KnownState[]): void {
    if (younger.size >= generationSize && !younger.has(id)) {
      older = younger;
      younger = new Map();
    }
    younger.set(id, knownStates);
  }

  return {
    note(state) {
      const knownStates = younger.get(state.id) ?? older.get(state.id) ?? nobody;
      keep(state.id, [
        ...knownStates.filter(({ owner }) => owner !== state.owner).slice(-7),
        state,
      ]);
    },
    recall(id) {
      const knownStates = younger.get(id);
      if (knownStates !== undefined) return knownStates;
      const before = older.get(id);
      if (before === undefined) return nobody;
      keep(id, before);
      return before;
    },
  };
}
