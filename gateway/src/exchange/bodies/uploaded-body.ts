import { setImmediate as nextTurn } from 'node:timers/promises';
import { turnBytes } from './collected-body.ts';
import type { SpoolSpace } from './spool.ts';
import type { BodyEdit, BodyPieces, SpooledBody } from './spooled-body.ts';

/** Reads a body as it arrives, so that it need not be in memory. */
export interface PieceReader {
  /** In bytes: the memory that it takes. */
  readonly keptBytes: number;
  /** A piece may be used again afterwards. */
  add(piece: Buffer): void;
}

/** The body of a request that was read as it arrived, and is kept in memory or in a file. */
export class UploadedBody<Reader extends PieceReader = PieceReader> {
  readonly reader: Reader;
  readonly #space: SpoolSpace;
  readonly #body: SpooledBody;
  #readers = 0;
  #isDone = false;

  constructor(reader: Reader, space: SpoolSpace, body: SpooledBody) {
    this.reader = reader;
    this.#space = space;
    this.#body = body;
  }

  get length(): number {
    return this.#body.length;
  }

  /** With other bytes at some places. */
  edited(edits: readonly BodyEdit[]): BodyPieces {
    const pieces = this.#body.edited(edits);
    return { length: pieces.length, read: () => this.#countedPieces(pieces) };
  }

  /** @throws SpoolFailure */
  async whole(): Promise<Buffer> {
    const wholeBody = Buffer.allocUnsafeSlow(this.length);
    let at = 0;
    let nextTurnAt = turnBytes;
    for await (const piece of this.#countedPieces(this.#body.edited([]))) {
      at += piece.copy(wholeBody, at);
      if (at < nextTurnAt) continue;
      // What is in memory comes without a pause.
      nextTurnAt = at + turnBytes;
      await nextTurn();
    }
    return wholeBody;
  }

  /** Releases it as soon as the present readers have finished; no new ones may start. Idempotent. */
  done(): void {
    this.#isDone = true;
    if (this.#readers === 0) this.#space.release();
  }

  async *#countedPieces(pieces: BodyPieces): AsyncGenerator<Buffer, void> {
    this.#readers += 1;
    try {
      yield* pieces.read();
    } finally {
      this.#readers -= 1;
      if (this.#isDone) this.done();
    }
  }
}
