/** For a smaller body, an iterator costs more than the memory is worth. */
const largeBytes = 16 * 1024;

/** A body that is sent in pieces. */
export interface UpstreamPieces {
  readonly length: number;
  /** All bytes from the first one. A piece is not used any more once the next one is asked for. */
  read(): AsyncIterable<Buffer>;
}

/**
 * The body in the form that undici receives. undici keeps the body until the response has ended, which for a stream is
 * minutes after the upstream has received all of it. A large body is therefore wrapped so that it is empty once read.
 *
 * @returns the body and, if undici cannot see its length, the length in bytes
 */
export function bodyForUndici(body: Buffer | UpstreamPieces | null): {
  body: Buffer | null;
  length: number | null;
} {
  if (body === null) return { body, length: null };
  const { length } = body;
  // undici accepts any iterable; its types only know streams.
  if (!Buffer.isBuffer(body)) return { body: body.read() as unknown as Buffer, length };
  if (length < largeBytes) return { body, length: null };
  return { body: new BodyOnce(body) as unknown as Buffer, length };
}

class BodyOnce implements Iterable<Buffer> {
  #bytes: Buffer | null;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  *[Symbol.iterator](): Generator<Buffer> {
    const bytes = this.#bytes;
    this.#bytes = null;
    if (bytes !== null) yield bytes;
  }
}
