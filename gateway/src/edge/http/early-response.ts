import type { IncomingMessage, ServerResponse } from 'node:http';
import { isFragmented } from './body-pace.ts';
import { isAwaitingInvitation } from './body.ts';

/** An unread body up to this size is cheaper to read than a new connection is to open. */
const keepAliveBytes = 64 * 1024;
const lingerBytes = 128 * 1024 * 1024;
const lingerMilliseconds = 10_000;

/** Whether the rest of the request body is too large to read just to keep the connection. */
export function mustClose(request: IncomingMessage): boolean {
  if (request.complete) return false;
  const length = request.headers['content-length'];
  if (length === undefined && request.headers['transfer-encoding'] === undefined) return false;
  if (isAwaitingInvitation(request)) return true;
  return !(Number(length) <= keepAliveBytes);
}

/** What ends the responses whose request bodies are still read and discarded. */
const draining = new WeakMap<ServerResponse, () => void>();

/** Ends the response if it waits for the rest of its request. @returns whether it did */
export function stopDraining(response: ServerResponse): boolean {
  const finish = draining.get(response);
  finish?.();
  return finish !== undefined;
}

/**
 * Sends the last bytes of a response whose request body is still arriving, then reads and discards the rest for a
 * limited time before it closes the connection. Closing at once would reset the connection, and the client, still
 * sending, would see the reset instead of the response. The head must contain `content-length` and `connection: close`.
 */
export function endAfterDraining(
  request: IncomingMessage,
  response: ServerResponse,
  body: string | Buffer,
): void {
  let drainedBytes = 0;
  let pieces = 0;
  const finish = (): void => {
    clearTimeout(timer);
    draining.delete(response);
    request.off('data', count);
    request.off('end', finish);
    response.end();
  };
  const count = (chunk: Buffer): void => {
    drainedBytes += chunk.length;
    pieces += 1;
    if (drainedBytes > lingerBytes || isFragmented(pieces, drainedBytes)) finish();
  };
  const timer = setTimeout(finish, lingerMilliseconds).unref();
  draining.set(response, finish);
  request.on('error', ignore);
  request.on('data', count);
  request.on('end', finish);
  response.on('close', () => clearTimeout(timer));
  response.write(body);
  request.resume();
}

function ignore(): void {}
