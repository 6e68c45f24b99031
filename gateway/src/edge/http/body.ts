import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { GatewayError } from '#errors/index.ts';
import { createContentDecoder, isInflated, type ContentDecoder } from '#compression/index.ts';
import { CollectedBody, type BodyClaim } from '#bodies/index.ts';
import type { BodyPace, PacedBody } from './body-pace.ts';
import { inviteBody } from './continue.ts';
import { PieceCount } from './piece-count.ts';

/**
 * Called once with the whole decoded body, or with the reason why there is none; never if the client disconnected
 * meanwhile.
 */
export type BodyListener = (error: GatewayError | null, body?: Buffer) => void;

declare module 'fastify' {
  interface FastifyRequest {
    /** The memory for the body; null on endpoints whose requests are not counted. */
    bodyClaim: BodyClaim | null;
  }
  interface FastifyContextConfig {
    /** The endpoint takes forms with files besides JSON. */
    forms?: boolean;
  }
}

export interface BodyOptions {
  /** Bytes, for received and decoded data alike. */
  readonly limit: number;
  readonly pace: BodyPace;
}

const json = 'application/json';
const form = 'multipart/form-data';

/** The initial estimate for a body without a declared length, in bytes. */
const undeclared = 64 * 1024;
/** The initial estimate of how much a compressed body expands. */
const usualRatio = 4;

/**
 * The content-type parser of every endpoint. It returns the body as bytes, so that the protocol scans and parses it
 * once. It runs after authentication.
 */
export function createBodyParser(options: BodyOptions) {
  return function parseBody(
    request: FastifyRequest,
    payload: IncomingMessage,
    done: BodyListener,
  ): void {
    const mediaType = mediaTypeOf(request.raw.headers['content-type']);
    const isForm = mediaType === form && request.routeOptions.config.forms === true;
    if (mediaType !== json && !isForm) {
      done(new GatewayError('unsupported_content_type'));
      return;
    }
    readBody(payload, request.bodyClaim, options, done);
  };
}

/** Reads a request body once there is memory for it. The limit applies to received and decoded bytes alike. */
function readBody(
  request: IncomingMessage,
  claim: BodyClaim | null,
  options: BodyOptions,
  done: BodyListener,
): void {
  const { headers } = request;
  const decoder = createContentDecoder(headers['content-encoding']);
  if (decoder === undefined) {
    done(new GatewayError('unsupported_content_encoding'));
    return;
  }
  // NaN if it is not declared.
  const declared = Number(headers['content-length']);
  if (declared > options.limit) {
    done(new GatewayError('body_too_large'));
    return;
  }
  const expected = Math.min(expectedBytes(declared, decoder !== null), options.limit);
  const start = (): void => {
    inviteBody(request);
    if (decoder === null) collect({ request, source: request, claim, expected, options, done });
    else decode(request, decoder, { claim, expected, options, done });
  };
  if (claim === null || claim.tryBody(expected)) {
    start();
    return;
  }
  claim.waitForBody(expected, (refusal) => {
    if (refusal === null) start();
    else done(refusal);
  });
}

function expectedBytes(declared: number, isEncoded: boolean): number {
  if (Number.isNaN(declared)) return undeclared;
  return isEncoded ? declared * usualRatio : declared;
}

interface Collecting {
  readonly request: IncomingMessage;
  /** The request, or its decoder. */
  readonly source: Readable;
  readonly claim: BodyClaim | null;
  /** Bytes for which memory is claimed. */
  readonly expected: number;
  readonly options: BodyOptions;
  readonly done: BodyListener;
}

function decode(
  request: IncomingMessage,
  decoder: ContentDecoder,
  { done, ...collecting }: Omit<Collecting, 'request' | 'source'>,
): void {
  // If the client disconnects, its decoder is destroyed too; `collect` is not called any more.
  request.on('error', () => decoder.destroy());
  request.on('close', () => {
    if (!request.complete) decoder.destroy();
  });
  const isBomb = (length: number): boolean => isInflated(length, decoder.bytesWritten);
  collect(
    {
      ...collecting,
      request,
      source: request.pipe(decoder),
      done(error, body) {
        if (error !== null) {
          request.unpipe(decoder);
          decoder.destroy();
        }
        done(error, body);
      },
    },
    isBomb,
  );
}

function collect(
  { request, source, claim, expected, options, done }: Collecting,
  isBomb: ((length: number) => boolean) | null = null,
): void {
  const { limit, pace } = options;
  let collected = new CollectedBody();
  const pieces = new PieceCount();
  let roomFor = expected;
  const settle = (error: GatewayError | null, body?: Buffer): void => {
    source.off('data', onData);
    request.off('data', onPiece);
    source.off('end', onEnd);
    pace.unwatch(paced);
    claim?.endReading();
    // Releases at once, because others wait; the request itself lives until its response is sent.
    if (error !== null) claim?.release();
    // The request lives as long as its response, and its error listeners would keep the bytes alive.
    collected = new CollectedBody();
    done(error, body);
  };
  const refuse = (error: GatewayError): void => settle(error);
  const paced: PacedBody = { request, refuse, since: 0, received: 0 };
  const makeRoom = (): void => {
    roomFor = Math.min(2 * collected.length, limit);
    // Two bodies that each hold what the other waits for would both wait in vain and block everybody else.
    if (claim !== null && !claim.tryBody(roomFor)) settle(claim.refuse());
  };
  const onData = (chunk: Buffer): void => {
    collected.add(chunk);
    const { length } = collected;
    if (length > limit || isBomb?.(length) === true) settle(new GatewayError('body_too_large'));
    else if (length > roomFor) makeRoom();
  };
  const onPiece = (piece: Buffer): void => {
    if (pieces.add(piece)) settle(new GatewayError('too_complex'));
  };
  const onEnd = (): void => {
    const { length } = collected;
    if (length === 0) {
      settle(new GatewayError('invalid_body'));
      return;
    }
    if (length < roomFor) claim?.tryBody(length);
    settle(null, collected.bytes());
  };
  pace.watch(paced);
  claim?.startReading(refuse);
  request.on('data', onPiece);
  source.on('data', onData);
  source.on('end', onEnd);
  let failed = false;
  source.on('error', (cause: NodeJS.ErrnoException) => {
    // An error of the request itself: the client disconnected, so nobody needs a response. An error of a decoder:
    // corrupt data.
    if (failed || cause.code === 'ECONNRESET') return;
    failed = true;
    settle(new GatewayError('invalid_body', { cause }));
  });
}

/** Of a request without a declared type it is JSON. */
function mediaTypeOf(contentType: string | undefined): string {
  if (contentType === undefined || contentType === json) return json;
  const end = contentType.indexOf(';');
  const mediaType = end === -1 ? contentType : contentType.slice(0, end);
  return mediaType.trim().toLowerCase();
}
