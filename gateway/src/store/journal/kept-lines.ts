/** Records that wait in memory while the disk accepts nothing. */
export interface KeptLines {
  /** False if there is no room: the record is lost. */
  add(line: string): boolean;
  /** Removes and returns all lines, oldest first. */
  takeAll(): readonly string[];
  readonly count: number;
}

/** @param mostCharacters total of all lines */
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
      const takenLines = lines;
      lines = [];
      characters = 0;
      return takenLines;
    },
    get count() {
      return lines.length;
    },
  };
}
