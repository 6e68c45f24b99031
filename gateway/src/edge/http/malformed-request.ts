import { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { stopDraining } from './early-response.ts';
import { createRequestId } from './request-id.ts';

const drainMilliseconds = 1_000;

/**
 * Responds to bytes that are not HTTP, came too slowly, or have too large a head, and closes. There is no path that
 * could select a shape and nothing in the bytes is trusted, so the response is a bare status.
 */
export function refuseMalformed(error: NodeJS.ErrnoException, socket: Socket): void {
  // oxlint-disable-next-line no-underscore-dangle -- Node has no public way from a socket to its response
  const response = '_httpMessage' in socket ? socket._httpMessage : null;
  // A request that was refused for its head: that response is whole, only the rest of the body cannot be read.
  const isRefused = response instanceof ServerResponse && stopDraining(response);
  if (error.code === 'ECONNRESET' || !socket.writable || (hasBegun(response) && !isRefused)) {
    socket.destroy();
    return;
  }
  if (!isRefused) {
    socket.end(
      `HTTP/1.1 ${statusOf(error.code)}\r\nx-request-id: ${createRequestId()}\r\n` +
        'content-length: 0\r\nconnection: close\r\n\r\n',
    );
  }
  // Discards what still arrives, so that a reset does not destroy the response.
  socket.resume();
  const timer = setTimeout(() => socket.destroy(), drainMilliseconds).unref();
  socket.once('close', () => clearTimeout(timer));
}

/** A response on this connection has begun: another status line would be read as part of its body. */
function hasBegun(response: unknown): boolean {
  return response instanceof ServerResponse && response.headersSent;
}

function statusOf(code: string | undefined): string {
  if (code === 'HPE_HEADER_OVERFLOW') return '431 Request Header Fields Too Large';
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return '408 Request Timeout';
  return '400 Bad Request';
}
