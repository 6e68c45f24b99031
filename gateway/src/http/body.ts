import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { GatewayError } from '../errors/index.ts';
import { createContentDecoder } from '../compression/index.ts';
import { inviteBody } from './continue.ts';

/** Called once with the whole decoded body or with why there is none; never when the client left meanwhile. */
export type BodyListener = (error: GatewayError | null, body?: Buffer) => void;

/**
 * The content-type parser of every JSON endpoint: gives the body as bytes, so that it is scanned and parsed
 * once, by the protocol. It runs after authentication.
 */
export function createBodyParser(limit: number) {
  return function parseBody(
    request: FastifyRequest,
    payload: IncomingMessage,
    done: BodyListener,
  ): void {
    if (!isJson(request.raw.headers['content-type'])) {
      done(new GatewayError('unsupported_content_type'));
      return;
    }
    readBody(payload, limit, done);
  };
}

/** Collects a request body under a limit that counts received and decoded bytes alike. */
export function readBody(request: IncomingMessage, limit: number, done: BodyListener): void {
  const decoder = createContentDecoder(request.headers['content-encoding']);
  if (decoder === undefined) {
    done(new GatewayError('unsupported_content_encoding'));
    return;
  }
  if (Number(request.headers['content-length']) > limit) {
    done(new GatewayError('body_too_large'));
    return;
  }
  inviteBody(request);
  if (decoder === null) {
    collect(request, limit, done);
    return;
  }
  // A client that leaves takes its decoder along; `collect` then hears nothing more.
  request.on('error', () => decoder.destroy());
  request.on('close', () => {
    if (!request.complete) decoder.destroy();
  });
  collect(request.pipe(decoder), limit, (error, body) => {
    if (error !== null) {
      request.unpipe(decoder);
      decoder.destroy();
    }
    done(error, body);
  });
}

function collect(source: Readable, limit: number, done: BodyListener): void {
  const chunks: Buffer[] = [];
  let length = 0;
  const settle = (error: GatewayError | null, body?: Buffer): void => {
    source.off('data', onData);
    source.off('end', onEnd);
    // The request lives as long as its answer, and what listens for its errors would keep them.
    chunks.length = 0;
    done(error, body);
  };
  const onData = (chunk: Buffer): void => {
    length += chunk.length;
    if (length > limit) settle(new GatewayError('body_too_large'));
    else chunks.push(chunk);
  };
  const onEnd = (): void => {
    const [first] = chunks;
    if (first === undefined) settle(new GatewayError('invalid_body'));
    else settle(null, chunks.length === 1 ? first : Buffer.concat(chunks, length));
  };
  source.on('data', onData);
  source.on('end', onEnd);
  let failed = false;
  source.on('error', (cause: NodeJS.ErrnoException) => {
    // Of the request itself: the client left, nobody is there to be answered. Of a decoder: corrupt data.
    if (failed || cause.code === 'ECONNRESET') return;
    failed = true;
    settle(new GatewayError('invalid_body', { cause }));
  });
}

function isJson(contentType: string | undefined): boolean {
  if (contentType === undefined || contentType === 'application/json') return true;
  const end = contentType.indexOf(';');
  const mediaType = end === -1 ? contentType : contentType.slice(0, end);
  return mediaType.trim().toLowerCase() === 'application/json';
}
