import { fstatSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Writable } from 'node:stream';

const descriptor = 2;

/**
 * Standard error as a stream that can be given up. Node's own cannot be destroyed: what its reader does not take
 * keeps the process from ending. Files and terminals have no such reader.
 */
export function openStandardError(): Writable {
  const kind = fstatSync(descriptor);
  if (!kind.isFIFO() && !kind.isSocket()) return process.stderr;
  return new Socket({ fd: descriptor, readable: false, writable: true }).unref();
}
