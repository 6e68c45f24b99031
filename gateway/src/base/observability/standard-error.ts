import { fstatSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Writable } from 'node:stream';

const descriptor = 2;

/**
 * Standard error as a stream that can be destroyed. Node's own stream cannot, so an unread pipe would keep the process
 * from ending. Files and terminals do not have the problem.
 */
export function openStandardError(): Writable {
  const kind = fstatSync(descriptor);
  if (!kind.isFIFO() && !kind.isSocket()) return process.stderr;
  return new Socket({ fd: descriptor, readable: false, writable: true }).unref();
}
