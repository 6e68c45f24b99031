import type { Protocol } from '#protocols/index.ts';
import type { UpstreamCall } from '#upstream/index.ts';
import type { ClientResponse } from './exchange.ts';

/**
 * How often to write to a client that has closed its sending side, at most on every tick. If it is gone altogether, it
 * answers the first frame with a reset, and the second write fails. If it still reads, it ignores the frames.
 */
const probeMs = 200;

/**
 * The client's side of a streamed exchange, shared by all attempts: opens the response when there is something to show,
 * passes bytes on, and slows the upstream down to the client's pace.
 */
export class StreamSink {
  readonly framing: Framing;
  /** An event of the response has been written, so no other channel may take over. */
  isShown = false;
  /** Monotonic time of the last write, or of the beginning. */
  lastWriteAt: number;
  readonly #client: ClientResponse;
  readonly #protocol: Pick<Protocol, 'keepAlive'>;
  readonly #monotonic: () => number;
  /** The upstream's call that is paused until the client reads. */
  #pausedCall: UpstreamCall | null = null;
  #pausedAt = 0;

  constructor(
    client: ClientResponse,
    protocol: Pick<Protocol, 'keepAlive'>,
    framing: Framing,
    monotonic: () => number,
  ) {
    this.#client = client;
    this.#protocol = protocol;
    this.framing = framing;
    this.#monotonic = monotonic;
    this.lastWriteAt = monotonic();
    client.onDrain(() => {
      const call = this.#pausedCall;
      this.#pausedCall = null;
      call?.resume();
    });
  }

  get isOpened(): boolean {
    return this.#client.headSent;
  }

  /** Might the client be gone? Only a write can tell, so the response must have been opened. */
  get inDoubt(): boolean {
    return this.#client.halfClosed;
  }

  /** How many milliseconds the upstream has been waiting for the client to read. */
  heldUpFor(now: number): number {
    return this.#pausedCall === null ? 0 : now - this.#pausedAt;
  }

  open(extraHeaders: Readonly<Record<string, string>>): void {
    if (this.#client.headSent) return;
    this.#client.start(200, { ...this.framing.headers, ...extraHeaders });
    this.lastWriteAt = this.#monotonic();
  }

  /** Writes bytes of the response. `call` is paused if the client does not keep up. */
  show(bytes: Buffer, call: UpstreamCall): void {
    const framedPieces = this.framing.verbatim ? null : this.framing.frame(bytes);
    if (framedPieces?.length === 0) return;
    this.isShown = true;
    this.lastWriteAt = this.#monotonic();
    const keepsUp = framedPieces === null ? this.#client.write(bytes) : this.#write(framedPieces);
    if (!keepsUp && this.#pausedCall === null) {
      this.#pausedCall = call;
      this.#pausedAt = this.lastWriteAt;
      call.pause();
    }
  }

  /** Writes a keep-alive frame after a silence, or to probe a client that might be gone. */
  keepAlive(now: number, silenceMs: number): void {
    // Bytes that are waiting for a slow client serve as well as another frame.
    if (!this.#client.headSent || this.#pausedCall !== null) return;
    const dueMs = this.#client.halfClosed ? Math.min(silenceMs, probeMs) : silenceMs;
    if (now - this.lastWriteAt < dueMs) return;
    this.lastWriteAt = now;
    this.#client.write(this.framing.keepAlive(this.#protocol.keepAlive(this.isShown)));
  }

  /** Ends the body with the rest of the response. */
  end(rest: readonly (Buffer | string)[]): void {
    if (this.framing.verbatim) this.#write(rest);
    else for (const bytes of rest) this.#write(this.framing.frame(Buffer.from(bytes)));
    this.#client.end(this.framing.closing());
  }

  /** False: the client does not keep up. */
  #write(pieces: readonly (Buffer | string)[]): boolean {
    let keepsUp = true;
    for (const piece of pieces) {
      if (piece.length > 0) keepsUp = this.#client.write(piece);
    }
    return keepsUp;
  }
}

/**
 * How a streamed response is written for this client. Upstreams always send server-sent events; a generate-content
 * client that did not request them gets one JSON array, element by element, as from the vendor.
 */
export interface Framing {
  readonly headers: Readonly<Record<string, string>>;
  /** True when the upstream's bytes pass unchanged. */
  readonly verbatim: boolean;
  /** Complete events in this framing, in pieces; none if nothing is left of them (comments). */
  frame(bytes: Buffer): readonly (Buffer | string)[];
  /** A keep-alive frame of the protocol, in this framing. */
  keepAlive(frame: string): string;
  /** The bytes that end the body. */
  readonly closing: () => string;
}

const eventStreamHeaders = Object.freeze({
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
  'x-accel-buffering': 'no',
});

const eventStream: Framing = Object.freeze({
  headers: eventStreamHeaders,
  verbatim: true,
  frame: (bytes: Buffer) => [bytes],
  keepAlive: (frame: string) => frame,
  closing: () => '',
});

export function createFraming(kind: 'event-stream' | 'json-array'): Framing {
  return kind === 'event-stream' ? eventStream : createJsonArray();
}

function createJsonArray(): Framing {
  let isBegun = false;
  return {
    headers: { ...eventStreamHeaders, 'content-type': 'application/json; charset=utf-8' },
    verbatim: false,
    frame(bytes) {
      const framedPieces: (Buffer | string)[] = [];
      for (const lines of dataOf(bytes)) {
        framedPieces.push(isBegun ? ',\r\n' : '[');
        for (const [index, line] of lines.entries())
          framedPieces.push(...(index > 0 ? ['\n'] : []), line);
        isBegun = true;
      }
      return framedPieces;
    },
    // White space between elements is legal JSON and keeps proxies awake.
    keepAlive: () => '\n',
    closing: () => (isBegun ? ']' : '[]'),
  };
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const space = 0x20;
const field = Buffer.from('data:');

/** The lines of the `data` fields of the events that have one. They stay bytes, since an image may be megabytes. */
function dataOf(bytes: Buffer): Buffer[][] {
  const fields: Buffer[][] = [];
  let lines: Buffer[] = [];
  for (const line of [...linesOf(bytes), nothing]) {
    if (line.subarray(0, field.length).equals(field)) {
      lines.push(line.subarray(line[field.length] === space ? field.length + 1 : field.length));
    }
    if (line.length > 0 || lines.length === 0) continue;
    if (lines.some(({ length }) => length > 0)) fields.push(lines);
    lines = [];
  }
  return fields;
}

const nothing = Buffer.alloc(0);

/** Lines end in LF, CR LF or CR. */
function* linesOf(bytes: Buffer): Generator<Buffer> {
  const next = (end: number, from: number): number => {
    const foundAt = bytes.indexOf(end, from);
    return foundAt < 0 ? bytes.length : foundAt;
  };
  let feed = -1;
  let carriage = -1;
  for (let start = 0; start < bytes.length;) {
    if (feed < start) feed = next(lineFeed, start);
    if (carriage < start) carriage = next(carriageReturn, start);
    const end = Math.min(feed, carriage);
    yield bytes.subarray(start, end);
    start = end + (carriage + 1 === feed ? 2 : 1);
  }
}
