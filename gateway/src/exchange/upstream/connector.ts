import type { LookupFunction, Socket } from 'node:net';
import { buildConnector, errors } from 'undici';

/** An upstream that closes a connection later than this after a request had time to start on it. */
const staleMs = 1_000;

/** Errors of connections that the other side closed before it can have seen the request. */
const stale = new WeakSet<Error>();

/**
 * Opens connections that can tell whether a failure was stale, and on which interim responses break nothing.
 * @param timeout milliseconds until the connection and its TLS are established
 * @param onStep is called when a connection is there, and when its TLS is
 */
export function createConnector(
  timeout: number,
  lookup: LookupFunction,
  onStep?: (step: 'connect' | 'tls') => void,
): buildConnector.connector {
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
    if (onStep !== undefined) {
      connecting.once('connect', () => onStep('connect'));
      connecting.once('secureConnect', () => onStep('tls'));
    }
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

const status = Buffer.from('HTTP/1.1 100');
/** The position of the minor version in `status`; it may be anything. */
const minorAt = 7;
/** The position of the status class in `status`, which distinguishes interim responses. */
const classAt = 9;
const lineEnds = Buffer.from('\r\n\r\n');
const digitTwo = 0x32;

/**
 * Finds `100 Continue` before a response, however the bytes are split. The gateway never requests it, but every client
 * must skip it (RFC 9110, 15.2). undici skips all other interim responses and breaks the call at this one, so it is
 * rewritten to 102, which is equally meaningless to a client that did not ask.
 */
export class InterimResponses {
  /** How much of the status line has matched; all of it: the head is skipped. */
  #matchedBytes = 0;
  /** How much of the end of an interim response's head has arrived. */
  #endBytes = 0;

  /** Call it when a request begins. */
  reset(): void {
    this.#matchedBytes = 0;
    this.#endBytes = 0;
  }

  /**
   * Takes the next piece and rewrites it where necessary.
   * @returns true once the response itself has begun and nothing more needs to be checked
   */
  rewrite(piece: Buffer): boolean {
    for (let at = 0; at < piece.length; at += 1) {
      const byte = piece[at]!;
      if (this.#matchedBytes === status.length) this.#passOver(byte);
      else if (this.#matchedBytes < classAt + 1) {
        if (byte !== status[this.#matchedBytes] && this.#matchedBytes !== minorAt) return true;
        this.#matchedBytes += 1;
      } else if (byte !== status[this.#matchedBytes]) this.#matchedBytes = status.length;
      else {
        this.#matchedBytes += 1;
        if (this.#matchedBytes === status.length) piece[at] = digitTwo;
      }
    }
    return false;
  }

  #passOver(byte: number): void {
    if (byte === lineEnds[this.#endBytes]) this.#endBytes += 1;
    else this.#endBytes = byte === lineEnds[0] ? 1 : 0;
    if (this.#endBytes === lineEnds.length) this.reset();
  }
}
