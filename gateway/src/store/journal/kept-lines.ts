/** Records that wait in memory while the disk accepts nothing. */
export class KeptLines {
  readonly #mostCharacters: number;
  /** The number of records. */
  count = 0;
  #lines: string[] = [];
  #characters = 0;

  /** @param mostCharacters total of all lines */
  constructor(mostCharacters: number) {
    this.#mostCharacters = mostCharacters;
  }

  /** False if there is no room: the record is lost. */
  add(line: string): boolean {
    if (this.#characters + line.length > this.#mostCharacters) return false;
    this.#characters += line.length;
    this.#lines.push(line);
    this.count += 1;
    return true;
  }

  /** Removes and returns all lines, oldest first. */
  takeAll(): readonly string[] {
    const takenLines = this.#lines;
    this.#lines = [];
    this.#characters = 0;
    this.count = 0;
    return takenLines;
  }
}
