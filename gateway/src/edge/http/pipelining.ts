import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';

/** Requests of one connection that may wait for their responses; no well-meaning client pipelines more. */
const mostWaiting = 16;

/** Requests without a response, by connection. */
const waiting = new WeakMap<Socket, number>();
const watchedSockets = new WeakSet<Socket>();

/**
 * Bounds pipelining (RFC 9112, 9.3.2). Beyond the bound, the connection is not read until responses have been sent:
 * each waiting request takes memory and a share of the process, and all would be worked on at once. The requests of one
 * read, 64 KiB, are still accepted.
 */
export function boundPipelining(listener: RequestListener): RequestListener {
  return (request, response) => {
    const { socket } = request;
    const count = (waiting.get(socket) ?? 0) + 1;
    waiting.set(socket, count);
    if (count >= mostWaiting) hold(socket);
    response.once('close', () => {
      const remaining = (waiting.get(socket) ?? 1) - 1;
      waiting.set(socket, remaining);
      // Not after every response: the reads would become small.
      if (remaining === mostWaiting / 2 && socket.isPaused()) socket.resume();
    });
    listener(request, response);
  };
}

function hold(socket: Socket): void {
  if (!watchedSockets.has(socket)) {
    watchedSockets.add(socket);
    // Reading the body of a request also reads the requests behind it.
    socket.on('resume', () => {
      if ((waiting.get(socket) ?? 0) >= mostWaiting) socket.pause();
    });
  }
  socket.pause();
}
