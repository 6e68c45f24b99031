import { createContentDecoder, isInflated, type ContentDecoder } from '#compression/index.ts';

/** Where the pieces of an answer go. */
export interface AnswerSink {
  onData(chunk: Buffer): void;
  onEnd(): void;
  /** What came could not be unpacked. */
  onCorrupt(error: Error): void;
  /** It becomes so many times its bytes that it is meant to hurt; nothing more comes. */
  onBomb(): void;
  /** The upstream sends faster than the answer is unpacked. */
  pause(): void;
  resume(): void;
}

/**
 * An answer that came packed although none was asked for. Unpacked as it comes and never ahead of whoever takes it,
 * so that a small body cannot become a large one in memory: the reader's own bounds hold for what it is given.
 */
export class DecodedAnswer {
  readonly #decoder: ContentDecoder;

  private constructor(decoder: ContentDecoder, sink: AnswerSink) {
    this.#decoder = decoder;
    let length = 0;
    decoder.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (isInflated(length, decoder.bytesWritten)) sink.onBomb();
      else sink.onData(chunk);
    });
    decoder.on('drain', () => sink.resume());
    decoder.on('end', () => sink.onEnd());
    decoder.on('error', (error) => sink.onCorrupt(error));
    this.write = (chunk) => {
      if (!decoder.write(chunk)) sink.pause();
    };
  }

  /** Null when nothing is packed, undefined when it is in a way that nobody unpacks here (or in several at once). */
  static open(
    encoding: string | string[] | undefined,
    sink: AnswerSink,
  ): DecodedAnswer | null | undefined {
    const decoder = createContentDecoder(Array.isArray(encoding) ? encoding.join(',') : encoding);
    return decoder === null || decoder === undefined ? decoder : new DecodedAnswer(decoder, sink);
  }

  readonly write: (chunk: Buffer) => void;

  end(): void {
    this.#decoder.end();
  }

  pause(): void {
    this.#decoder.pause();
  }

  resume(): void {
    this.#decoder.resume();
  }

  close(): void {
    this.#decoder.destroy();
  }
}
