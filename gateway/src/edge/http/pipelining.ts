import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';

/** Requests of one connection that may wait for their answers; nobody who means well pipelines so many. */
const mostWaiting = 16;

/** Unanswered requests by connection. */
const waiting = new WeakMap<Socket, number>();
const watched = new WeakSet<Socket>();

/**
 * A client may send its next requests before it has an answer (pipelining, RFC 9112, 9.3.2). Beyond a bound its connection
 * is not read until answers have gone out: each waiting request takes memory and a share of the process, and all of
 * them together would be worked on at once. What one read brings, 64 KiB, is still taken.
 */
export function boundPipelining(listener: RequestListener): RequestListener {
  return (request, response) => {
    const { socket } = request;
    const count = (waiting.get(socket) ?? 0) + 1;
    waiting.set(socket, count);
    if (count >= mostWaiting) hold(socket);
    response.once('close', () => {
      const left = (waiting.get(socket) ?? 1) - 1;
      waiting.set(socket, left);
      // Not at every answer: what is read then would come in small portions.
      if (left === mostWaiting / 2 && socket.isPaused()) socket.resume();
    });
    listener(request, response);
  };
}

function hold(socket: Socket): void {
  if (!watched.has(socket)) {
    watched.add(socket);
    // Whoever reads the body of a request reads on for it, and for all that come behind.
    socket.on('resume', () => {
      if ((waiting.get(socket) ?? 0) >= mostWaiting) socket.pause();
    });
  }
  socket.pause();
}
