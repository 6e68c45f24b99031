import type { ServerResponse } from 'node:http';
import { createGzip, constants, type Gzip } from 'node:zlib';
import type { Fault } from './fault.ts';
import { createRandom } from './random.ts';

/** Writes pieces of a body, compressed or sliced as the fault requires. */
export interface BodyWriter {
  write(piece: Uint8Array | string): Promise<void>;
  /** Flushes the encoding. The caller ends the response. */
  finish(): Promise<void>;
}

export function createBodyWriter(response: ServerResponse, fault: Fault): BodyWriter {
  const put = fault.slice === undefined ? putWhole(response) : putSliced(response, fault);
  return fault.gzip ? compressing(put) : { write: put, finish: async () => undefined };
}

type Put = (piece: Uint8Array | string) => Promise<void>;

/** Resolves when the operating system has the bytes, so that a cut never loses what preceded it. */
function putWhole(response: ServerResponse): Put {
  return (piece) =>
    new Promise((resolve) => {
      if (piece.length === 0 || response.destroyed) resolve();
      else response.write(piece, () => resolve());
    });
}

function putSliced(response: ServerResponse, fault: Fault): Put {
  const put = putWhole(response);
  const random = createRandom(fault.seed ?? 1);
  const nextSize = () =>
    typeof fault.slice === 'number' ? fault.slice : 1 + Math.floor(random() * 40);
  return async (piece) => {
    const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece;
    for (let start = 0; start < bytes.length && !response.destroyed;) {
      const end = start + nextSize();
      await put(bytes.subarray(start, end));
      start = end;
    }
  };
}

function compressing(put: Put): BodyWriter {
  const gzip = createGzip();
  return {
    async write(piece) {
      gzip.write(piece);
      await new Promise<void>((resolve) => gzip.flush(constants.Z_SYNC_FLUSH, resolve));
      await put(drain(gzip));
    },
    async finish() {
      await new Promise<void>((resolve) => {
        gzip.once('readable', resolve);
        gzip.end();
      });
      await put(drain(gzip));
    },
  };
}

function drain(gzip: Gzip): Buffer {
  const parts: Buffer[] = [];
  for (let part = gzip.read(); part !== null; part = gzip.read()) parts.push(part as Buffer);
  return Buffer.concat(parts);
}
