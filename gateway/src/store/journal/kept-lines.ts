/** Records that wait in memory for a disk that takes nothing at the moment. */
export interface KeptLines {
  /** False when there is no room: the record is lost. */
  add(line: string): boolean;
  /** All of them, the oldest first; none is kept any more. */
  takeAll(): readonly string[];
  readonly count: number;
}

/** @param mostCharacters of all lines together. */
export function createKeptLines(mostCharacters: number): KeptLines {
  let lines: string[] = [];
  let characters = 0;
  return {
    add(line) {
      if (characters + line.length > mostCharacters) return false;
      characters += line.length;
      lines.push(line);
      return true;
    },
    takeAll() {
      const taken = lines;
      lines = [];
      characters = 0;
      return taken;
    },
    get count() {
      return lines.length;
    },
  };
}
