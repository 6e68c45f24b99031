/**
 * Joins neighbouring events of one network chunk into one write. It keeps offsets only and copies no bytes. Without
 * `joins` each event is written alone, for framings that need single events.
 */
export class EventRun {
  #buffer: ArrayBufferLike | null = null;
  #start = 0;
  #end = 0;
  readonly #write: (bytes: Buffer) => void;

  readonly #joins: boolean;

  constructor(joins: boolean, write: (bytes: Buffer) => void) {
    this.#joins = joins;
    this.#write = write;
  }

  add(bytes: Buffer): void {
    if (this.#joins && this.#buffer === bytes.buffer && this.#end === bytes.byteOffset) {
      this.#end += bytes.length;
      return;
    }
    this.flush();
    this.#buffer = bytes.buffer;
    this.#start = bytes.byteOffset;
    this.#end = bytes.byteOffset + bytes.length;
  }

  flush(): void {
    if (this.#buffer === null) return;
    const bytes = Buffer.from(this.#buffer, this.#start, this.#end - this.#start);
    this.#buffer = null;
    this.#write(bytes);
  }
}
