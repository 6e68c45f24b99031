import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { GatewayError } from '#errors/index.ts';
import { ChunkWriter } from './chunk-writer.ts';
import { ownHeaders } from './own-headers.ts';
import { WriteStall } from './write-stall.ts';

/**
 * Takes over the response of a request for a caller that writes it piece by piece. The framework sends nothing more on
 * it.
 */
export function createClientResponse(
  request: FastifyRequest,
  reply: FastifyReply,
): NodeClientResponse {
  reply.hijack();
  const { server } = request;
  return new NodeClientResponse(reply.raw, ownHeaders(request), server, (error) =>
    server.respondWithError(error, request, reply),
  );
}

/** Complete responses up to this length leave together with their head. */
const joinedLength = 16 * 1024;

/** A client's response as callbacks over Node's: no allocation per chunk. */
export class NodeClientResponse {
  readonly #response: ServerResponse;
  /** Flat names and values; `start` appends those of the response. */
  readonly #headers: string[];
  readonly #server: Pick<FastifyInstance, 'isDraining' | 'promised' | 'writeStall'>;
  /** Null: writes go through Node's response. */
  #chunks: ChunkWriter | null = null;
  readonly #respond: (error: GatewayError) => void;
  failedWith: GatewayError | null = null;
  #status = 0;
  #sized = false;
  #sent = false;
  #ended = false;
  #left = false;
  #leaveListener: (() => void) | null = null;
  #drainListener: (() => void) | null = null;
  /** Null if the client has never been slow. */
  #stall: WriteStall | null = null;

  /** @param respond writes the response for an error */
  constructor(
    response: ServerResponse,
    headers: string[],
    server: Pick<FastifyInstance, 'isDraining' | 'promised' | 'writeStall'>,
    respond: (error: GatewayError) => void,
  ) {
    this.#respond = respond;
    this.#response = response;
    this.#headers = headers;
    this.#server = server;
    const closed = (): void => this.#closed();
    response.on('close', closed);
    if (response.destroyed || response.req.socket.destroyed) this.#closed();
  }

  get headSent(): boolean {
    return this.#status !== 0;
  }

  get disconnected(): boolean {
    return this.#left;
  }

  get halfClosed(): boolean {
    return this.#response.req.socket.readableEnded;
  }

  fail(error: GatewayError): void {
    if (this.#status !== 0 || this.#left) return;
    this.#respond(error);
    this.failedWith = error;
    this.#status = error.entry.status;
    this.#ended = true;
    this.#leave();
  }

  start(status: number, headers: Readonly<Record<string, string>>): void {
    if (this.#status !== 0) throw new Error('the response has already begun');
    this.#status = status;
    for (const name in headers) {
      this.#headers.push(name, headers[name] ?? '');
      if (name === 'content-length') this.#sized = true;
    }
    // The head leaves with the first bytes if they follow at once, otherwise alone.
    process.nextTick(sendHeadAlone, this);
  }

  write(bytes: Buffer | string): boolean {
    if (this.#left || this.#ended) return true;
    if (!this.#sent) return this.#writeWithHead(bytes);
    if (this.#chunks !== null) return this.#writeChunk(this.#chunks, bytes);
    const isRoom = this.#response.write(bytes);
    if (!isRoom) this.#watchStall();
    return isRoom;
  }

  end(bytes?: Buffer | string): void {
    if (this.#left || this.#ended) return;
    this.#ended = true;
    if (!this.#sent) {
      if (!this.#sized) this.#headers.push('content-length', String(byteLength(bytes)));
      this.#writeHead();
      if (Buffer.isBuffer(bytes) && bytes.length <= joinedLength) {
        // Text in the head's own encoding joins it in one write; Latin-1 carries any bytes unchanged.
        this.#response.end(bytes.toString('latin1'), 'latin1');
        return;
      }
    } else if (this.#server.isDraining()) this.#server.promised.ended();
    if (this.#chunks === null) this.#response.end(bytes);
    else this.#endChunks(this.#chunks, bytes);
    if ((this.#response.socket?.writableLength ?? 0) > 0) this.#watchStall();
  }

  onDisconnect(listener: () => void): void {
    if (this.#left) queueMicrotask(listener);
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
    if (this.#sent || this.#left || this.#ended) return;
    this.#writeHead();
    this.#response.flushHeaders();
    this.#takeSocket();
  }

  /** The head and everything written in the same turn leave together. */
  #writeWithHead(bytes: Buffer | string): boolean {
    const { socket } = this.#response;
    socket?.cork();
    this.flush();
    const isRoom = this.write(bytes);
    // After the chunks of this turn, if there are any.
    if (socket !== null) process.nextTick(uncork, socket);
    return isRoom;
  }

  /** Not for a pipelined request (no socket yet), HTTP/1.0, or a response of known length. */
  #takeSocket(): void {
    const { chunkedEncoding, socket } = this.#response;
    if (chunkedEncoding && socket !== null) {
      this.#chunks = new ChunkWriter(socket, () => this.#watchStall());
    }
  }

  #writeChunk(chunks: ChunkWriter, bytes: Buffer | string): boolean {
    if (chunks.write(bytes)) return true;
    this.#response.socket?.once('drain', () => this.#drainListener?.());
    return false;
  }

  /** The last chunks and the end of the body leave together. */
  #endChunks(chunks: ChunkWriter, bytes: Buffer | string | undefined): void {
    // `end` uncorks it.
    this.#response.socket?.cork();
    if (bytes !== undefined) chunks.write(bytes);
    chunks.flush();
    this.#response.end();
  }

  #watchStall(): void {
    const { socket } = this.#response;
    if (socket === null) return;
    this.#stall ??= new WriteStall(this.#response, socket, this.#server.writeStall);
    this.#stall.begin();
  }

  #writeHead(): void {
    this.#sent = true;
    if (this.#server.isDraining()) this.#headers.push('connection', 'close');
    this.#response.writeHead(this.#status, this.#headers);
  }

  #closed(): void {
    if (this.#left || this.#response.writableFinished) return;
    this.#leave();
  }

  #leave(): void {
    this.#left = true;
    const listener = this.#leaveListener;
    this.#leaveListener = null;
    listener?.();
  }
}

function uncork(socket: Socket): void {
  socket.uncork();
}

function sendHeadAlone(response: NodeClientResponse): void {
  response.flush();
}

function byteLength(bytes: Buffer | string | undefined): number {
  if (bytes === undefined) return 0;
  return typeof bytes === 'string' ? Buffer.byteLength(bytes) : bytes.length;
}
