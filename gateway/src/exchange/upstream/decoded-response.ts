import { createContentDecoder, isInflated, type ContentDecoder } from '#compression/index.ts';

/** Receives the decompressed pieces of a response. */
export interface ResponseSink {
  onData(chunk: Buffer): void;
  onEnd(): void;
  /** The data could not be decompressed. */
  onCorrupt(error: Error): void;
  /** The data expands so much that it must be an attack; no more data follows. */
  onBomb(): void;
  /** The upstream sends faster than the response is decompressed. */
  pause(): void;
  resume(): void;
}

/**
 * A response that came compressed although no compression was requested. It is decompressed as it arrives and never
 * ahead of its reader, so a small body cannot become a large one in memory: the reader's own bounds hold for the
 * decompressed data.
 */
export class DecodedResponse {
  readonly #decoder: ContentDecoder;

  private constructor(decoder: ContentDecoder, sink: ResponseSink) {
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

  /** Null if the response is not compressed; undefined for an encoding that is not supported, or several at once. */
  static open(
    encoding: string | string[] | undefined,
    sink: ResponseSink,
  ): DecodedResponse | null | undefined {
    const decoder = createContentDecoder(Array.isArray(encoding) ? encoding.join(',') : encoding);
    return decoder === null || decoder === undefined ? decoder : new DecodedResponse(decoder, sink);
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
