/** Slots of concurrency limits, by exchange id. Taking and leaving are idempotent. */
export class Slots {
  readonly #taken = new Map<string, number>();
  readonly #heldBy = new Map<string, string[]>();

  isFree(name: string, limit: number, id: string): boolean {
    return (this.#taken.get(name) ?? 0) < limit || this.#heldBy.get(id)?.includes(name) === true;
  }

  take(name: string, id: string): void {
    const heldNames = this.#heldBy.get(id);
    if (heldNames === undefined) this.#heldBy.set(id, [name]);
    else if (heldNames.includes(name)) return;
    else heldNames.push(name);
    this.#taken.set(name, (this.#taken.get(name) ?? 0) + 1);
  }

  /** @returns the limits on which the id held a slot. */
  leave(id: string): readonly string[] {
    const heldNames = this.#heldBy.get(id);
    if (heldNames === undefined) return [];
    this.#heldBy.delete(id);
    for (const name of heldNames) {
      const others = this.#taken.get(name)! - 1;
      if (others === 0) this.#taken.delete(name);
      else this.#taken.set(name, others);
    }
    return heldNames;
  }

  isUnderWay(id: string): boolean {
    return this.#heldBy.has(id);
  }

  /** The limits of which each id holds a slot. */
  entries(): IterableIterator<[id: string, names: readonly string[]]> {
    return this.#heldBy.entries();
  }
}
