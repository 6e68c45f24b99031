import type { LookupFunction, Socket } from 'node:net';
import { buildConnector, errors } from 'undici';
import { InterimResponses } from './interim-responses.ts';

/** An upstream that closes a connection later than this after a request had time to start on it. */
const staleMs = 1_000;

/** Errors of connections that the other side closed before it can have seen the request. */
const stale = new WeakSet<Error>();

/**
 * Opens connections that can tell whether a failure was stale, and on which interim responses break nothing.
 * @param timeout milliseconds until the connection and its TLS are established
 */
export function createConnector(timeout: number, lookup: LookupFunction): buildConnector.connector {
  // undici's own timer for this fires up to half a second late. The connector returns its socket, which its type hides.
  const connect = buildConnector({ timeout: 0, allowH2: false, lookup }) as (
    ...parameters: Parameters<buildConnector.connector>
  ) => Socket;
  return (options, callback) => {
    const connecting = connect(options, (...result) => {
      clearTimeout(timer);
      clearImmediate(late);
      const [error, socket] = result;
      if (error === null) follow(socket);
      callback(...result);
    });
    let late: NodeJS.Immediate | undefined;
    const timer = setTimeout(() => {
      // The connection may already be established and the busy process not have noticed: it checks before this runs.
      late = setImmediate(() => {
        connecting.destroy(new errors.ConnectTimeoutError(`no connection within ${timeout} ms`));
      });
    }, timeout);
  };
}

/**
 * Whether the error ended a reused connection that the other side closed as the request was sent, without a byte of a
 * response.
 */
export function isStaleConnection(error: Error): boolean {
  return stale.has(error);
}

/**
 * Tracks when each request on a connection began, and when its response did. One request at a time: nothing is
 * pipelined.
 */
export function follow(socket: Socket): void {
  const interim = new InterimResponses();
  const { read, write } = socket;
  let awaiting = false;
  let bytesBefore = 0;
  let sentAt = 0;
  socket.write = (...call: unknown[]) => {
    if (!awaiting) {
      awaiting = true;
      bytesBefore = socket.bytesRead;
      sentAt = performance.now();
      interim.reset();
    }
    return Reflect.apply(write, socket, call) as boolean;
  };
  socket.read = (size?: number) => {
    const piece = read.call(socket, size) as Buffer | null;
    if (awaiting && piece !== null) awaiting = !interim.rewrite(piece);
    return piece;
  };
  // Runs before undici's own listener, which passes the error on.
  socket.on('error', (failure) => {
    const isIdle = bytesBefore > 0 && socket.bytesRead === bytesBefore;
    if (isIdle && isClosing(failure) && performance.now() - sentAt < staleMs) stale.add(failure);
  });
}

/**
 * A reset, or undici's error for a FIN; not an error with which we destroyed the socket ourselves, such as a time-out.
 */
function isClosing(error: NodeJS.ErrnoException): boolean {
  const { code } = error;
  return code === 'ECONNRESET' || code === 'EPIPE' || error instanceof errors.SocketError;
}
