import type { LookupFunction, Socket } from 'node:net';
import { buildConnector, errors } from 'undici';
import { InterimAnswers } from './interim-answers.ts';

/** An upstream that closes a connection later than this after a request had the time to begin with it. */
const staleMs = 1_000;

/** With what connections ended that the other side closed before it can have seen the request. */
const stale = new WeakSet<Error>();

/**
 * Opens connections whose failures can be asked whether they were stale, and on which an interim answer breaks nothing.
 * @param timeout in milliseconds, until the connection and its TLS stand
 */
export function createConnector(timeout: number, lookup: LookupFunction): buildConnector.connector {
  // Undici's own clock for this goes off up to half a second late. The connector gives its socket, which its type hides.
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
      // A connection may stand already, and a busy process not have looked: it looks before this.
      late = setImmediate(() => {
        connecting.destroy(new errors.ConnectTimeoutError(`no connection within ${timeout} ms`));
      });
    }, timeout);
  };
}

/**
 * The error ended a connection that had served before, which the other side closed as the request was sent, without a
 * byte of an answer.
 */
export function isStaleConnection(error: Error): boolean {
  return stale.has(error);
}

/** Knows of each request on a connection when it began, and when its answer did. One at a time: nothing is pipelined. */
function follow(socket: Socket): void {
  const interim = new InterimAnswers();
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
  // Ahead of undici's own listener, which hands the error on.
  socket.on('error', (failure) => {
    const isIdle = bytesBefore > 0 && socket.bytesRead === bytesBefore;
    if (isIdle && isClosing(failure) && performance.now() - sentAt < staleMs) stale.add(failure);
  });
}

/** A reset, or undici's word for a FIN; not what we destroyed it with ourselves, such as a time-out. */
function isClosing(error: NodeJS.ErrnoException): boolean {
  const { code } = error;
  return code === 'ECONNRESET' || code === 'EPIPE' || error instanceof errors.SocketError;
}
