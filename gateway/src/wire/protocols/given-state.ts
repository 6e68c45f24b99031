import type { StateKind, StateName } from './named-state.ts';

/** More than any response has. Names beyond it are not remembered. */
const mostGiven = 1_000;

/** Collects the ids that one streamed response gives out, each once. */
export class GivenState {
  readonly names: StateName[] = [];
  readonly #known = new Set<string>();

  add(kind: StateKind, id: unknown): void {
    if (typeof id !== 'string' || id === '' || this.#known.has(id)) return;
    if (this.names.length === mostGiven) return;
    this.#known.add(id);
    this.names.push({ kind, id });
  }
}
