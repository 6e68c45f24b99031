import type { ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { GatewayError } from '#errors/index.ts';
import { ChunkWriter } from './chunk-writer.ts';
import { ownHeaders } from './respond.ts';
import { WriteStall } from './write-stall.ts';

/** Complete responses up to this length leave together with their head. */
const joinedLength = 16 * 1024;

/**
 * A client's response as callbacks over Node's: no allocation per chunk. It takes over the response of a request, and the
 * framework sends nothing more on it.
 */
export class NodeClientResponse {
  readonly #request: FastifyRequest;
  readonly #reply: FastifyReply;
  readonly #response: ServerResponse;
  /** Flat names and values; `start` appends those of the response. */
  readonly #headers: string[];
  /** Null: writes go through Node's response. */
  #chunks: ChunkWriter | null = null;
  failedWith: GatewayError | null = null;
  headSent = false;
  disconnected = false;
  #status = 0;
  #hasLength = false;
  /** The head has left. */
  #isHeadSent = false;
  #hasEnded = false;
  #leaveListener: (() => void) | null = null;
  #drainListener: (() => void) | null = null;
  /** Null if the client has never been slow. */
  #stall: WriteStall | null = null;

  constructor(request: FastifyRequest, reply: FastifyReply) {
    reply.hijack();
    this.#request = request;
    this.#reply = reply;
    this.#response = reply.raw;
    this.#headers = ownHeaders(request);
    const response = reply.raw;
    response.on('close', () => {
      if (!response.writableFinished) this.#leave();
    });
    if (response.destroyed || request.raw.socket.destroyed) this.#leave();
  }

  get halfClosed(): boolean {
    return this.#request.raw.socket.readableEnded;
  }

  fail(error: GatewayError): void {
    if (this.headSent || this.disconnected) return;
    this.#request.server.respondWithError(error, this.#request, this.#reply);
    this.failedWith = error;
    this.headSent = true;
    this.#hasEnded = true;
    this.#leave();
  }

  start(status: number, headers: Readonly<Record<string, string>>): void {
    if (this.headSent) throw new Error('the response has already begun');
    this.headSent = true;
    this.#status = status;
    for (const name in headers) {
      this.#headers.push(name, headers[name] ?? '');
      if (name === 'content-length') this.#hasLength = true;
    }
    // The head leaves with the first bytes if they follow at once, otherwise alone.
    process.nextTick(() => this.flush());
  }

  write(bytes: Buffer | string): boolean {
    if (this.disconnected || this.#hasEnded) return true;
    if (!this.#isHeadSent) return this.#writeWithHead(bytes);
    if (this.#chunks === null) {
      const isRoom = this.#response.write(bytes);
      if (!isRoom) this.#watchStall();
      return isRoom;
    }
    const isRoom = this.#chunks.write(bytes);
    if (!isRoom) this.#response.socket?.once('drain', () => this.#drainListener?.());
    return isRoom;
  }

  end(bytes?: Buffer | string): void {
    if (this.disconnected || this.#hasEnded) return;
    this.#hasEnded = true;
    const response = this.#response;
    const { server } = this.#request;
    if (!this.#isHeadSent) {
      if (!this.#hasLength) this.#headers.push('content-length', String(byteLength(bytes)));
      this.#writeHead();
      if (Buffer.isBuffer(bytes) && bytes.length <= joinedLength) {
        // Text in the head's own encoding joins it in one write; Latin-1 carries any bytes unchanged.
        response.end(bytes.toString('latin1'), 'latin1');
        return;
      }
    } else if (server.isDraining()) server.promisedConnections.responseEnded();
    if (this.#chunks === null) response.end(bytes);
    else {
      // The last chunks and the end of the body leave together: `end` uncorks the socket.
      response.socket?.cork();
      if (bytes !== undefined) this.#chunks.write(bytes);
      this.#chunks.flush();
      response.end();
    }
    if ((response.socket?.writableLength ?? 0) > 0) this.#watchStall();
  }

  onDisconnect(listener: () => void): void {
    if (this.disconnected) queueMicrotask(listener);
    else this.#leaveListener = listener;
  }

  onDrain(listener: () => void): void {
    if (this.#drainListener === null) {
      this.#response.on('drain', () => this.#drainListener?.());
    }
    this.#drainListener = listener;
  }

  /** Sends a head that was started but not sent yet. */
  flush(): void {
    if (this.#isHeadSent || this.disconnected || this.#hasEnded) return;
    this.#writeHead();
    this.#response.flushHeaders();
    const { chunkedEncoding, socket } = this.#response;
    // Not for a pipelined request (no socket yet), HTTP/1.0, or a response of known length.
    if (chunkedEncoding && socket !== null) {
      this.#chunks = new ChunkWriter(socket, () => this.#watchStall());
    }
  }

  /** The head and everything written in the same turn leave together. */
  #writeWithHead(bytes: Buffer | string): boolean {
    const { socket } = this.#response;
    socket?.cork();
    this.flush();
    const isRoom = this.write(bytes);
    // After the chunks of this turn, if there are any.
    if (socket !== null) process.nextTick(() => socket.uncork());
    return isRoom;
  }

  #watchStall(): void {
    const { socket } = this.#response;
    if (socket === null) return;
    this.#stall ??= new WriteStall(this.#response, socket, this.#request.server.writeStall);
    this.#stall.begin();
  }

  #writeHead(): void {
    this.#isHeadSent = true;
    if (this.#request.server.isDraining()) this.#headers.push('connection', 'close');
    this.#response.writeHead(this.#status, this.#headers);
  }

  #leave(): void {
    if (this.disconnected) return;
    this.disconnected = true;
    const listener = this.#leaveListener;
    this.#leaveListener = null;
    listener?.();
  }
}

function byteLength(bytes: Buffer | string | undefined): number {
  if (bytes === undefined) return 0;
  return typeof bytes === 'string' ? Buffer.byteLength(bytes) : bytes.length;
}
