import { createServer, type Server } from 'node:net';

/** Below those that systems give to outgoing connections: none of these takes it before a server has. */
const lowest = 20_000;
const highest = 32_000;

/** Processes begin apart from each other, so that they seldom ask for the same ports. */
let next = lowest + ((process.pid * 101) % (highest - lowest));

/**
 * A port on which nobody listens, for a server of another program at 127.0.0.1. No other test is given it as long as this
 * process lives, also while that server is not running: it is taken at the neighbouring address.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = next;
    next = port + 1 < highest ? port + 1 : lowest;
    const claim = await listenAt('127.0.0.2', port);
    if (claim === 'EADDRINUSE') continue;
    const server = await listenAt('127.0.0.1', port);
    if (typeof server !== 'string') {
      await new Promise<void>((resolve) => server.close(() => resolve()));
      return port;
    }
    // A system without the neighbouring address has no claims.
    if (typeof claim !== 'string') claim.close();
  }
}

/** @returns the code of the error if it cannot */
function listenAt(host: string, port: number): Promise<Server | string> {
  const server = createServer().unref();
  return new Promise((resolve) => {
    server.once('error', ({ code }: NodeJS.ErrnoException) => resolve(String(code)));
    server.listen(port, host, () => resolve(server));
  });
}
