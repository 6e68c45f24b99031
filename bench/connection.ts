import { connect, type Socket } from 'node:net';
import { stampDigits, stampMark } from './prepared-responses.ts';
import { microseconds } from './statistics.ts';

/** One response as the client saw it; all times in microseconds of the machine's monotonic clock. */
export interface Seen {
  readonly status: number;
  readonly sentAt: number;
  readonly firstByteAt: number;
  readonly endAt: number;
  /** When the upstream sent the end of the response; null without a stamp. */
  readonly stampedAt: number | null;
  /** The last bytes of the body, enough to find the terminator in. */
  readonly tail: string;
}

const tailBytes = 2048;
const lastChunk = Buffer.from('\r\n0\r\n\r\n');

/**
 * A keep-alive HTTP/1.1 client connection that reads only what it must: status, framing, the end. A broken response
 * rejects, so that a failed run cannot look fast.
 */
export class Connection {
  readonly #socket: Socket;
  #response: PromiseWithResolvers<Seen> | null = null;
  #sentAt = 0;
  #firstByteAt = 0;
  #head = '';
  #status = 0;
  /** Body bytes still to come; -1 = chunked; -2 = head not read yet. */
  #remaining: number = -2;
  /** The last packets, together at least `tailBytes` long once there were as many. */
  #recent: Buffer[] = [];
  #recentBytes = 0;
  #onFirstByte: (() => void) | null = null;

  constructor(port: number) {
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true });
    this.#socket.on('data', (chunk: Buffer) => this.#read(chunk));
    this.#socket.on('error', (error) => this.#fail(error));
    this.#socket.on('close', () => this.#fail(new Error('connection closed in the middle')));
  }

  get idle(): boolean {
    return this.#response === null && !this.#socket.destroyed;
  }

  /** Sends one request (complete bytes) and returns its response. `onFirstByte` is called at the body's first byte. */
  exchange(request: Buffer, onFirstByte: (() => void) | null = null): Promise<Seen> {
    this.#response = Promise.withResolvers<Seen>();
    this.#remaining = -2;
    this.#head = '';
    this.#firstByteAt = 0;
    this.#recent = [];
    this.#recentBytes = 0;
    this.#onFirstByte = onFirstByte;
    this.#sentAt = microseconds();
    this.#socket.write(request);
    return this.#response.promise;
  }

  close(): void {
    this.#socket.destroy();
  }

  #read(chunk: Buffer): void {
    let body = chunk;
    if (this.#remaining === -2) {
      this.#head += chunk.toString('latin1');
      const end = this.#head.indexOf('\r\n\r\n');
      if (end < 0) return;
      body = Buffer.from(this.#head.slice(end + 4), 'latin1');
      this.#remaining = this.#readHead(this.#head.slice(0, end));
      if (body.length === 0 && this.#remaining !== 0) return;
    }
    if (this.#firstByteAt === 0) {
      this.#firstByteAt = microseconds();
      this.#onFirstByte?.();
    }
    this.#keep(body);
    if (this.#remaining >= 0) {
      this.#remaining -= body.length;
      if (this.#remaining <= 0) this.#finish();
    } else if (this.#endsWithLastChunk(body)) this.#finish();
  }

  /** Remembers the end of the body without copying anything. */
  #keep(body: Buffer): void {
    this.#recent.push(body);
    this.#recentBytes += body.length;
    for (;;) {
      const oldest = this.#recent[0]?.length ?? 0;
      if (oldest === 0 || this.#recentBytes - oldest < tailBytes) return;
      this.#recent.shift();
      this.#recentBytes -= oldest;
    }
  }

  #endsWithLastChunk(body: Buffer): boolean {
    if (body[body.length - 1] !== lastChunk.at(-1)) return false;
    const end = body.length >= lastChunk.length ? body : Buffer.concat(this.#recent);
    return end.subarray(-lastChunk.length).equals(lastChunk);
  }

  #readHead(head: string): number {
    this.#status = Number(head.slice(9, 12));
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    const chunked = /\r\ntransfer-encoding: *chunked/i.test(head);
    if (length === undefined && !chunked)
      this.#fail(new Error(`response without framing: ${head}`));
    return length === undefined ? -1 : Number(length);
  }

  #finish(): void {
    const tail = Buffer.concat(this.#recent).subarray(-tailBytes).toString('latin1');
    const mark = tail.lastIndexOf(stampMark);
    const digits = tail.slice(mark + stampMark.length, mark + stampMark.length + stampDigits);
    const response = this.#response;
    this.#response = null;
    response?.resolve({
      status: this.#status,
      sentAt: this.#sentAt,
      firstByteAt: this.#firstByteAt,
      endAt: microseconds(),
      stampedAt: mark < 0 ? null : Number(digits),
      tail,
    });
  }

  #fail(error: Error): void {
    this.#socket.destroy();
    this.#response?.reject(error);
    this.#response = null;
  }
}
