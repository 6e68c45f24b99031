import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { GatewayError } from '#errors/index.ts';
import { createContentDecoder, isInflated, type ContentDecoder } from '#compression/index.ts';
import type { BodyClaim, PieceReader, Spool, UploadedBody } from '#bodies/index.ts';
import { type BodyPace, isFragmented, type PacedBody } from './body-pace.ts';
import { type BodyTarget, MemoryTarget, noRoom, SpoolTarget } from './body-target.ts';

/**
 * Called once with the whole decoded body, or with the reason why there is none; never if the client disconnected
 * meanwhile.
 */
export type BodyListener = (error: GatewayError | null, body?: Buffer | UploadedBody) => void;

declare module 'fastify' {
  interface FastifyRequest {
    /** The memory for the body; null on endpoints whose requests are not counted. */
    bodyClaim: BodyClaim | null;
  }
  interface FastifyContextConfig {
    /** The endpoint takes forms with files as well as JSON. */
    forms?: boolean;
    /** Reads large bodies as they arrive: they are kept in the spool. Absent: in memory. */
    readPieces?: (contentType: string) => PieceReader;
  }
}

export interface BodyOptions {
  /** Bytes, for received and decoded data alike. */
  readonly limit: number;
  readonly pace: BodyPace;
  /** Where large bodies are kept on endpoints that read them in pieces; null: in memory. */
  readonly spool: Spool | null;
}

/** Also of a request that declares no type. */
const json = 'application/json';
const form = 'multipart/form-data';

/** The initial estimate for a body without a declared length, in bytes. */
const undeclaredBytes = 64 * 1024;
/** In bytes: smaller bodies are in memory on every endpoint. */
const smallBody = 1024 * 1024;
/** In bytes: what a body needs of the memory while it goes to the spool. It counts as a large one. */
const ofStored = smallBody + 1;
/** The initial estimate of how much a compressed body expands. */
const usualRatio = 4;

/**
 * The content-type parser of every endpoint. It returns the body as bytes, so that the protocol scans and parses it
 * once. It runs after authentication, and reads once there is memory for the body. The limit applies to received and
 * decoded bytes alike.
 */
export function createBodyParser({ limit, pace, spool }: BodyOptions) {
  return function parseBody(
    request: FastifyRequest,
    payload: IncomingMessage,
    done: BodyListener,
  ): void {
    const { headers } = request.raw;
    const { forms, readPieces } = request.routeOptions.config;
    const contentType = headers['content-type'] ?? json;
    const mediaType = contentType === json ? json : mediaTypeOf(contentType);
    if (mediaType !== json && !(mediaType === form && forms === true)) {
      done(new GatewayError('unsupported_content_type'));
      return;
    }
    const decoder = createContentDecoder(headers['content-encoding']);
    if (decoder === undefined) {
      done(new GatewayError('unsupported_content_encoding'));
      return;
    }
    // NaN if it is not declared.
    const declaredBytes = Number(headers['content-length']);
    if (declaredBytes > limit) {
      done(new GatewayError('body_too_large'));
      return;
    }
    const isUndeclared = Number.isNaN(declaredBytes);
    const estimate = isUndeclared
      ? undeclaredBytes
      : declaredBytes * (decoder === null ? 1 : usualRatio);
    const expectedBytes = Math.min(estimate, limit);
    const isSmall = decoder === null && declaredBytes <= smallBody;
    const claim = request.bodyClaim;
    const isSpooled = readPieces !== undefined && !isSmall && spool !== null && claim !== null;

    const start = (): void => {
      const source = decoder ?? payload;
      const target = isSpooled
        ? SpoolTarget.open(
            source,
            readPieces(contentType),
            spool,
            claim,
            isUndeclared ? 0 : expectedBytes,
          )
        : new MemoryTarget(claim, expectedBytes, limit);
      if (target === null) {
        done(noRoom());
        return;
      }
      if (headers.expect !== undefined) inviteBody(payload);
      collect({ request: payload, decoder, claim, target, limit, pace, done });
    };
    const room = isSpooled ? ofStored : expectedBytes;
    if (claim === null || claim.tryBody(room)) {
      start();
      return;
    }
    claim.waitForBody(room, (refusal) => {
      if (refusal === null) start();
      else done(refusal);
    });
  };
}

interface Collecting {
  readonly request: IncomingMessage;
  /** Null: the body is not compressed. */
  readonly decoder: ContentDecoder | null;
  readonly claim: BodyClaim | null;
  readonly target: BodyTarget;
  readonly limit: number;
  readonly pace: BodyPace;
  readonly done: BodyListener;
}

function collect({ request, decoder, claim, target, limit, pace, done }: Collecting): void {
  const source: Readable = decoder ?? request;
  let pieces = 0;
  let bytesReceived = 0;
  let length = 0;
  const stop = (): void => {
    request.off('data', onPiece);
    decoder?.off('data', onData);
    source.off('end', onEnd);
    pace.unwatch(pacedBody);
    claim?.endReading();
  };
  const refuse = (error: GatewayError): void => {
    stop();
    if (decoder !== null) {
      request.unpipe(decoder);
      decoder.destroy();
    }
    // Releases at once, because others wait; the request itself lives until its response is sent, and its error
    // listeners would keep the bytes alive.
    claim?.release();
    target.forget();
    done(error);
  };
  const pacedBody: PacedBody = { request, refuse, since: 0, receivedBytes: 0 };
  const onData = (chunk: Buffer): void => {
    length += chunk.length;
    const refusal = target.add(chunk);
    const isBomb = decoder !== null && isInflated(length, decoder.bytesWritten);
    if (length > limit || isBomb) refuse(new GatewayError('body_too_large'));
    else if (refusal !== null) refuse(refusal);
  };
  const onPiece = (piece: Buffer): void => {
    pieces += 1;
    bytesReceived += piece.length;
    if (isFragmented(pieces, bytesReceived)) refuse(new GatewayError('too_complex'));
    else if (decoder === null) onData(piece);
  };
  const onEnd = (): void => {
    if (length === 0) {
      refuse(new GatewayError('invalid_body'));
      return;
    }
    stop();
    target.end(done);
  };
  pace.watch(pacedBody);
  claim?.startReading(refuse);
  request.on('data', onPiece);
  decoder?.on('data', onData);
  source.on('end', onEnd);
  let hasFailed = false;
  source.on('error', (cause: NodeJS.ErrnoException) => {
    // An error of the request itself: the client disconnected, so no response is needed. An error of a decoder:
    // corrupt data.
    if (hasFailed || cause.code === 'ECONNRESET') return;
    hasFailed = true;
    refuse(new GatewayError('invalid_body', { cause }));
  });
  if (decoder !== null) feed(decoder, request);
}

/** If the client disconnects, the decoder is destroyed too, and delivers nothing more. */
function feed(decoder: ContentDecoder, request: IncomingMessage): void {
  request.on('error', () => decoder.destroy());
  request.on('close', () => {
    if (!request.complete) decoder.destroy();
  });
  request.pipe(decoder);
}

function mediaTypeOf(contentType: string): string {
  const end = contentType.indexOf(';');
  const mediaType = end === -1 ? contentType : contentType.slice(0, end);
  return mediaType.trim().toLowerCase();
}

/** Responses of clients that asked first whether to send a body. */
const uninvited = new WeakMap<IncomingMessage, ServerResponse>();

/**
 * Holds back the `100 Continue` that Node would send at once. A client that asks first learns that its key or path is
 * wrong before it sends a body.
 */
export function holdBackContinue(server: Server): void {
  server.on('checkContinue', (request, response) => {
    uninvited.set(request, response);
    server.emit('request', request, response);
  });
  // Ignores any other expectation, as RFC 9110 allows, instead of refusing it without a request id.
  server.on('checkExpectation', (request, response) => {
    server.emit('request', request, response);
  });
}

/** Invites the body of a client that asked first. */
function inviteBody(request: IncomingMessage): void {
  const response = uninvited.get(request);
  if (response === undefined) return;
  uninvited.delete(request);
  response.writeContinue();
}

/** Whether the client asked first and was not invited: it may or may not send its body now. */
export function isAwaitingInvitation(request: IncomingMessage): boolean {
  return uninvited.has(request);
}
