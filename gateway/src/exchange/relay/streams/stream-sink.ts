import type { Protocol } from '#protocols/index.ts';
import type { UpstreamCall } from '#upstream/index.ts';
import type { ClientResponse } from '../exchange/exchange.ts';
import type { Framing } from './framing.ts';

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
  shown = false;
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

  get opened(): boolean {
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
    this.shown = true;
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
    this.#client.write(this.framing.keepAlive(this.#protocol.keepAlive(this.shown)));
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
