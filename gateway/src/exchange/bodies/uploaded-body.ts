import { setImmediate as nextTurn } from 'node:timers/promises';
import { turnBytes } from './collected-body.ts';
import type { SpoolSpace } from './spool.ts';
import type { BodyEdit, BodyPieces, SpooledBody } from './spooled-body.ts';

/** Reads a body as it arrives, so that it need not be in memory. */
export interface PieceReader {
  /** In bytes: the memory that it takes. */
  readonly kept: number;
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
    return { length: pieces.length, read: () => this.#counted(pieces) };
  }

  /** @throws SpoolFailure */
  async whole(): Promise<Buffer> {
    const whole = Buffer.allocUnsafeSlow(this.length);
    let at = 0;
    let due = turnBytes;
    for await (const piece of this.#counted(this.#body.edited([]))) {
      at += piece.copy(whole, at);
      if (at < due) continue;
      // What is in memory comes without a pause.
      due = at + turnBytes;
      await nextTurn();
    }
    return whole;
  }

  /** Nobody will read it again: releases it as soon as those who read it now have finished. Idempotent. */
  done(): void {
    this.#isDone = true;
    if (this.#readers === 0) this.#space.release();
  }

  async *#counted(pieces: BodyPieces): AsyncGenerator<Buffer, void> {
    this.#readers += 1;
    try {
      yield* pieces.read();
    } finally {
      this.#readers -= 1;
      if (this.#isDone) this.done();
    }
  }
}
