import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { GatewayError } from '#errors/index.ts';
import { createContentDecoder, isInflated, type ContentDecoder } from '#compression/index.ts';
import type { BodyClaim, PieceReader, Spool, UploadedBody } from '#bodies/index.ts';
import type { BodyPace, PacedBody } from './body-pace.ts';
import { type BodyTarget, MemoryTarget, noRoom, SpoolTarget } from './body-target.ts';
import { inviteBody } from './continue.ts';
import { PieceCount } from './piece-count.ts';

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
    /** The endpoint takes forms with files besides JSON. */
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

const json = 'application/json';
const form = 'multipart/form-data';

/** The initial estimate for a body without a declared length, in bytes. */
const undeclared = 64 * 1024;
/** In bytes: smaller bodies are in memory on every endpoint. */
const smallBody = 1024 * 1024;
/** In bytes: what a body needs of the memory while it goes to the spool. It counts as a large one. */
const ofStored = smallBody + 1;
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
    const { readPieces } = request.routeOptions.config;
    const contentType = request.raw.headers['content-type'] ?? json;
    const open = readPieces === undefined ? null : () => readPieces(contentType);
    readBody(payload, request.bodyClaim, open, options, done);
  };
}

/** Reads a request body once there is memory for it. The limit applies to received and decoded bytes alike. */
function readBody(
  request: IncomingMessage,
  claim: BodyClaim | null,
  openReader: (() => PieceReader) | null,
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
  const isSmall = decoder === null && declared <= smallBody;
  const { spool } = options;
  const start = (target: BodyTarget): void => {
    inviteBody(request);
    if (decoder === null) collect({ request, source: request, claim, target, options, done });
    else decode(request, decoder, { claim, target, options, done });
  };
  if (openReader === null || isSmall || spool === null || claim === null) {
    claimed(claim, expected, done, () => start(new MemoryTarget(claim, expected, options.limit)));
    return;
  }
  claimed(claim, ofStored, done, () => {
    const reserved = Number.isNaN(declared) ? 0 : expected;
    const target = SpoolTarget.open(openReader(), spool, claim, reserved);
    if (target === null) done(noRoom());
    else start(target);
  });
}

/** Calls back once there is memory. */
function claimed(
  claim: BodyClaim | null,
  bytes: number,
  done: BodyListener,
  start: () => void,
): void {
  if (claim === null || claim.tryBody(bytes)) {
    start();
    return;
  }
  claim.waitForBody(bytes, (refusal) => {
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
  readonly target: BodyTarget;
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
  { request, source, claim, target, options, done }: Collecting,
  isBomb: ((length: number) => boolean) | null = null,
): void {
  const { limit, pace } = options;
  const pieces = new PieceCount();
  const stop = (): void => {
    source.off('data', onData);
    request.off('data', onPiece);
    source.off('end', onEnd);
    pace.unwatch(paced);
    claim?.endReading();
  };
  const refuse = (error: GatewayError): void => {
    stop();
    // Releases at once, because others wait; the request itself lives until its response is sent, and its error
    // listeners would keep the bytes alive.
    claim?.release();
    target.forget();
    done(error);
  };
  const paced: PacedBody = { request, refuse, since: 0, received: 0 };
  const onData = (chunk: Buffer): void => {
    if (!target.add(chunk)) source.pause();
    const { length } = target;
    if (length > limit || isBomb?.(length) === true) {
      refuse(new GatewayError('body_too_large'));
      return;
    }
    const refusal = target.refusal();
    if (refusal !== null) refuse(refusal);
  };
  const onPiece = (piece: Buffer): void => {
    if (pieces.add(piece)) refuse(new GatewayError('too_complex'));
  };
  const onEnd = (): void => {
    if (target.length === 0) {
      refuse(new GatewayError('invalid_body'));
      return;
    }
    stop();
    target.end(done);
    target.forget();
  };
  pace.watch(paced);
  claim?.startReading(refuse);
  target.onDrain(() => source.resume());
  request.on('data', onPiece);
  source.on('data', onData);
  source.on('end', onEnd);
  let failed = false;
  source.on('error', (cause: NodeJS.ErrnoException) => {
    // An error of the request itself: the client disconnected, so nobody needs a response. An error of a decoder:
    // corrupt data.
    if (failed || cause.code === 'ECONNRESET') return;
    failed = true;
    refuse(new GatewayError('invalid_body', { cause }));
  });
}

/** Of a request without a declared type it is JSON. */
function mediaTypeOf(contentType: string | undefined): string {
  if (contentType === undefined || contentType === json) return json;
  const end = contentType.indexOf(';');
  const mediaType = end === -1 ? contentType : contentType.slice(0, end);
  return mediaType.trim().toLowerCase();
}
