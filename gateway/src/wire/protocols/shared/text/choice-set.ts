const lastBit = 30;

/**
 * Which choices of a response have begun and which have ended, by index. Bits of two numbers: a stream is read event by
 * event, and this allocates nothing. Indexes beyond the last bit share it; a negative index counts as the first choice.
 */
export class ChoiceSet {
  #begun = 0;
  #ended = 0;

  clear(): void {
    this.#begun = 0;
    this.#ended = 0;
  }

  /** @param isEnd whether the choice has its finish reason. */
  note(index: number, isEnd: boolean): void {
    const bit = 1 << Math.min(Math.max(index, 0), lastBit);
    this.#begun |= bit;
    if (isEnd) this.#ended |= bit;
  }

  addAll(others: ChoiceSet): void {
    this.#begun |= others.#begun;
    this.#ended |= others.#ended;
  }

  get anyBegun(): boolean {
    return this.#begun !== 0;
  }

  get anyEnded(): boolean {
    return this.#ended !== 0;
  }

  /** At least one choice has ended, and every choice that began has. */
  get allEnded(): boolean {
    return this.#ended !== 0 && (this.#begun & ~this.#ended) === 0;
  }
}
