import type { Server } from 'node:http';

/**
 * Responses of a stopping gateway ask the client to close the connection. Responses whose head was sent before had
 * promised to keep it, and a load balancer may send the next request the moment they end: that request is served, and
 * only a connection that has been idle for this long is closed. Longer than the four seconds after which the load
 * balancer should close idle connections itself (docs/several-nodes.md).
 */
const reuseMs = 4_500;

export interface PromisedConnections {
  /** A response has ended that promised to keep its connection. */
  responseEnded(): void;
}

/**
 * Delays the server's closing of idle connections for them.
 * @param isPatient false if the gateway must stop at once
 */
export function keepPromises(
  server: Server,
  isPatient: () => boolean,
  monotonic: () => number = () => performance.now(),
): PromisedConnections {
  const closeIdle = server.closeIdleConnections.bind(server);
  let until = 0;
  // Delays all idle connections, whichever made the promise: a moment longer does no harm.
  server.closeIdleConnections = () => {
    if (!isPatient() || monotonic() >= until) closeIdle();
  };
  return {
    responseEnded() {
      until = monotonic() + reuseMs;
    },
  };
}
