import type { LookupFunction } from 'node:net';
import { buildConnector } from 'undici';

/** How much had come over a connection when its other side reset it with this error. */
const bytesReadByError = new WeakMap<Error, number>();

/**
 * Opens connections whose failures can be asked whether they had served before.
 * @param timeout in milliseconds, until the connection and its TLS stand
 */
export function createConnector(timeout: number, lookup: LookupFunction): buildConnector.connector {
  const connect = buildConnector({ timeout, allowH2: false, lookup });
  return (options, callback) =>
    connect(options, (...result) => {
      const [error, socket] = result;
      // Ahead of undici's own listener, which hands the error on.
      if (error === null) {
        socket.on('error', (failure: NodeJS.ErrnoException) => {
          if (isReset(failure)) bytesReadByError.set(failure, socket.bytesRead);
        });
      }
      callback(...result);
    });
}

/** Not what we destroyed it with ourselves, such as a time-out. */
function isReset({ code }: NodeJS.ErrnoException): boolean {
  return code === 'ECONNRESET' || code === 'EPIPE';
}

/** Bytes received on the connection whose reset this is; undefined for any other error. */
export function bytesReadBefore(error: Error): number | undefined {
  return bytesReadByError.get(error);
}
