import { MediaWanted } from '#conversion/index.ts';
import { GatewayError } from '#errors/index.ts';
import { isExactNumber, isRecord, parseExact, UnreadableResponse } from '#protocols/index.ts';
import type { Handed } from './thread.ts';

/*
 * How values get from one thread to another. Memory of bytes is transferred, and several views of the same memory are
 * views of the same memory afterwards: parts of a body stay parts of it. Errors of the gateway cross by name, as
 * members of a value too.
 */

/** The member that marks what does not cross by itself. */
const mark = 'sluice:crossing';

/**
 * @param value plain data, bytes, exact numbers, maps, and errors; it must not be used any more
 * @param lentBytes bytes whose memory is transferred in any case
 */
export function pack(value: object, lentBytes: readonly Uint8Array[] = []): Handed<unknown> {
  const memory = new Set<ArrayBufferLike>(lentBytes.map(({ buffer }) => buffer));
  const message = outgoing(value, memory);
  return { message, transfer: [...memory] as ArrayBuffer[] };
}

/** The value as it was packed. It is changed in place. */
export function unpack(message: unknown): unknown {
  if (typeof message !== 'object' || message === null) return message;
  if (message instanceof Uint8Array) return asBuffer(message);
  if (message instanceof Set) return message;
  if (message instanceof Map) {
    for (const [key, each] of message) message.set(key, unpack(each));
    return message;
  }
  if (mark in message) return unmark(message as unknown as Marked);
  const record = message as Record<string, unknown>;
  for (const name in record) record[name] = unpack(record[name]);
  return record;
}

/** A copy in separate memory, which a transfer requires: small buffers share theirs. */
export function ownBytes(bytes: Uint8Array): Buffer {
  const { byteLength } = bytes;
  // Nothing can be sent again after it was transferred, not even an empty constant.
  const isOwn = byteLength > 0 && byteLength === bytes.buffer.byteLength;
  return asBuffer(isOwn ? bytes : new Uint8Array(bytes));
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.byteLength);
}

function outgoing(value: unknown, memory: Set<ArrayBufferLike>): unknown {
  if (typeof value !== 'object' || value === null || value instanceof Set) return value;
  if (value instanceof Uint8Array) {
    if (memory.has(value.buffer)) return value;
    const own = ownBytes(value);
    memory.add(own.buffer);
    return own;
  }
  if (Array.isArray(value)) return value.map((each) => outgoing(each, memory));
  if (value instanceof Map) {
    return new Map(Array.from(value, ([key, each]) => [key, outgoing(each, memory)]));
  }
  if (value instanceof Error) return { [mark]: 'error', ...plainError(value) } satisfies Marked;
  if (isExactNumber(value)) return { [mark]: 'number', text: JSON.stringify(value) };
  const plain: Record<string, unknown> = {};
  for (const [name, each] of Object.entries(value)) plain[name] = outgoing(each, memory);
  return plain;
}

type Marked =
  | ({ readonly [mark]: 'error' } & PlainError)
  | { readonly [mark]: 'number'; readonly text: string };

function unmark(markedValue: Marked): unknown {
  return markedValue[mark] === 'number' ? parseExact(markedValue.text) : errorOf(markedValue);
}

type PlainError =
  | ({ readonly kind: 'gateway' } & Pick<
      GatewayError,
      'errorName' | 'message' | 'param' | 'details' | 'retryAfter' | 'headers'
    >)
  | ({ readonly kind: 'media-wanted' } & Pick<MediaWanted, 'wanted'>)
  | ({ readonly kind: 'unreadable' } & Pick<UnreadableResponse, 'message' | 'body' | 'usage'>)
  /** A defect of the gateway. */
  | { readonly kind: 'defect'; readonly message: string; readonly stack: string | undefined };

function plainError(error: Error): PlainError {
  const { message } = error;
  if (error instanceof GatewayError) {
    const { errorName, param, details, retryAfter, headers } = error;
    return { kind: 'gateway', message, errorName, param, details, retryAfter, headers };
  }
  if (error instanceof MediaWanted) return { kind: 'media-wanted', wanted: error.wanted };
  if (error instanceof UnreadableResponse) {
    return { kind: 'unreadable', message, body: essence(error.body), usage: error.usage };
  }
  return { kind: 'defect', message, stack: error.stack };
}

/** Restores the error as it was thrown, without its cause. */
function errorOf(plain: PlainError): Error {
  switch (plain.kind) {
    case 'gateway': {
      const { kind: _, errorName, ...members } = plain;
      // The holes of the catalogue's message were filled where the error was thrown.
      return Object.assign(new GatewayError(errorName), members);
    }
    case 'media-wanted':
      return new MediaWanted(plain.wanted);
    case 'unreadable':
      return new UnreadableResponse(plain.message, plain.body, plain.usage);
    case 'defect':
      return Object.assign(new Error(plain.message), { stack: plain.stack });
  }
}

/** The part of an error response that is read: enough to classify it. */
const errorLength = 64 * 1024;
const memberLength = 4 * 1024;

/** Reduces an error for the main thread, which must not receive a large response in it. */
function essence(body: unknown): unknown {
  if (!isRecord(body) || JSON.stringify(body).length <= errorLength) return body;
  return {
    ...scalarsOf(body),
    ...(isRecord(body['error']) && { error: scalarsOf(body['error']) }),
  };
}

function scalarsOf(record: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const scalars: Record<string, unknown> = {};
  for (const name of ['error', 'type', 'code', 'status', 'message', 'param']) {
    const value = record[name];
    if (typeof value === 'string') scalars[name] = value.slice(0, memberLength);
    else if (typeof value === 'number') scalars[name] = value;
  }
  return scalars;
}
