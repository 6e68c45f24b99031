import type { Readable } from 'node:stream';

/** Where copies of results are kept. Names are ours: letters, digits, `-`, `_` and one dot. */
export interface ResultStorage {
  /**
   * Keeps a file, in place of one of the same name. Nothing of it is there before all of it is.
   * @throws what the pieces throw, or why they cannot be kept
   */
  write(task: string, name: string, file: NewFile): Promise<void>;
  /** In bytes; null: there is no such file. */
  size(task: string, name: string): Promise<number | null>;
  /** Reads these bytes, the last one included. */
  read(task: string, name: string, from: number, to: number): Promise<Readable>;
  /** Removes these files of a task, if they are there. */
  remove(task: string, names: readonly string[]): Promise<void>;
}

export interface NewFile {
  readonly pieces: AsyncIterable<Buffer>;
  /** In bytes; null: nobody knows. */
  readonly length: number | null;
  /** Its media type. */
  readonly type: string;
}
