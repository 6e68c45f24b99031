/** Below this an iterator costs more than the memory is worth. */
const largeBytes = 16 * 1024;

/**
 * What undici is given of a body. It keeps that until the answer has ended, which for a stream is minutes after the
 * upstream has taken all of it; of a large body it therefore gets something that is empty once it was read.
 *
 * @returns the body and, where undici cannot see it, its length in bytes
 */
export function bodyForUndici(body: Buffer | null): { body: Buffer | null; length: number | null } {
  if (body === null || body.length < largeBytes) return { body, length: null };
  // undici takes any iterable; its types know only streams.
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
