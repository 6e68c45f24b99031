import type { StateKind, StateName } from './named-state.ts';

/** No answer has more; what is beyond is not remembered. */
const mostGiven = 1_000;

/** Gathers what one streamed answer names, each id once. */
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
