import type { Server } from 'node:http';

/**
 * The answers of a gateway that stops ask for the end of their connections. Those whose head went out before had
 * promised that theirs would stay, and a load balancer may send the next request on it the moment they end: it is
 * served, and only a connection that idled for so long is closed. Longer than the four seconds after which the one in
 * front is told to close idle connections itself (docs/several-nodes.md).
 */
const reuseMs = 4_500;

export interface PromisedConnections {
  /** An answer has ended whose connection was promised to stay. */
  ended(): void;
}

/**
 * Makes the server's closing of idle connections wait for them.
 * @param isPatient false when the gateway is to stop at once
 */
export function keepPromises(
  server: Server,
  isPatient: () => boolean,
  monotonic: () => number = () => performance.now(),
): PromisedConnections {
  const closeIdle = server.closeIdleConnections.bind(server);
  let until = 0;
  // Which connection it was is not asked: the others may as well idle a moment longer.
  server.closeIdleConnections = () => {
    if (!isPatient() || monotonic() >= until) closeIdle();
  };
  return {
    ended() {
      until = monotonic() + reuseMs;
    },
  };
}
