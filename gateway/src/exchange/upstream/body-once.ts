/** For a smaller body, an iterator costs more than the memory is worth. */
const largeBytes = 16 * 1024;

/**
 * The body in the form that undici receives. undici keeps the body until the response has ended, which for a stream is
 * minutes after the upstream has received all of it. A large body is therefore wrapped so that it is empty once read.
 *
 * @returns the body and, if undici cannot see its length, the length in bytes
 */
export function bodyForUndici(body: Buffer | null): { body: Buffer | null; length: number | null } {
  if (body === null || body.length < largeBytes) return { body, length: null };
  // undici accepts any iterable; its types only know streams.
  return { body: new BodyOnce(body) as unknown as Buffer, length: body.length };
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
