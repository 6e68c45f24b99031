/** The ids that ended last: at least `most`, at most twice as many. */
export class Ended {
  readonly #most: number;
  #young = new Set<string>();
  #old = new Set<string>();

  constructor(most: number) {
    this.#most = most;
  }

  /** @returns false if the id had ended before. */
  add(id: string): boolean {
    if (this.#young.has(id) || this.#old.has(id)) return false;
    if (this.#young.size >= this.#most) {
      this.#old = this.#young;
      this.#young = new Set();
    }
    this.#young.add(id);
    return true;
  }
}
