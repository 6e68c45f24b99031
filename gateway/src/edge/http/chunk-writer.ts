import type { Socket } from 'node:net';

/** Bytes that may wait for a slow client before the writer is asked to pause. */
const bufferLimit = 128 * 1024;

/**
 * Writes a body in chunks directly to the socket. Everything written in one turn of the event loop leaves as one chunk
 * in one system call; otherwise an upstream that sends many events at once would cost one call each.
 *
 * Node's own way makes three buffers per chunk and passes them on together, which costs more than all other work on a
 * small event.
 */
export class ChunkWriter {
  readonly #socket: Socket;
  readonly #onWait: () => void;
  #pieces: (Buffer | string)[] = [];
  #pieceBytes = 0;

  /** @param onWait called when the system did not accept everything */
  constructor(socket: Socket, onWait: () => void) {
    this.#socket = socket;
    this.#onWait = onWait;
  }

  /** Returns false if so much waits for the client that the caller should wait for the socket's `drain`. */
  write(bytes: Buffer | string): boolean {
    const length = typeof bytes === 'string' ? Buffer.byteLength(bytes) : bytes.length;
    // An empty chunk would end the body.
    if (length === 0) return true;
    if (typeof bytes !== 'string' && length > bufferLimit) {
      this.flush();
      this.#writeAlone(bytes);
      return this.#socket.writableLength < bufferLimit;
    }
    if (this.#pieces.length === 0) process.nextTick(flushLate, this);
    this.#pieces.push(bytes);
    this.#pieceBytes += length;
    if (this.#socket.writableLength + this.#pieceBytes < bufferLimit) return true;
    this.flush();
    return this.#socket.writableLength < bufferLimit;
  }

  /** Megabytes are not copied: that would hold up everybody else. */
  #writeAlone(bytes: Buffer): void {
    const socket = this.#socket;
    socket.cork();
    socket.write(`${bytes.length.toString(16)}\r\n`, 'latin1');
    socket.write(bytes);
    const isAccepted = socket.write('\r\n', 'latin1');
    socket.uncork();
    if (!isAccepted) this.#onWait();
  }

  /** Writes what has been joined so far. */
  flush(): void {
    if (this.#pieces.length === 0) return;
    const chunk = encodeChunk(this.#pieces, this.#pieceBytes);
    this.#pieces = [];
    this.#pieceBytes = 0;
    if (!this.#socket.write(chunk)) this.#onWait();
  }
}

function flushLate(writer: ChunkWriter): void {
  writer.flush();
}

const lineEnd = 0x0a0d;

/**
 * One chunk of `Transfer-Encoding: chunked` (RFC 9112 section 7.1) in one buffer, for one write.
 * @param pieces the content, in order
 * @param length total bytes of the pieces
 */
export function encodeChunk(pieces: readonly (Buffer | string)[], length: number): Buffer {
  const size = length.toString(16);
  let at = size.length + 2;
  const chunk = Buffer.allocUnsafe(at + length + 2);
  chunk.write(size, 0, 'latin1');
  chunk.writeUInt16LE(lineEnd, size.length);
  for (const piece of pieces) {
    at += typeof piece === 'string' ? chunk.write(piece, at, 'utf8') : piece.copy(chunk, at);
  }
  chunk.writeUInt16LE(lineEnd, at);
  return chunk;
}
