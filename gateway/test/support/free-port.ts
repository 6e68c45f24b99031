import { createServer } from 'node:net';

/** Below those that systems give to outgoing connections: none of these takes it before a server has. */
const lowest = 20_000;
const highest = 32_000;

/** A port on which nobody listens, for a server of another program. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = lowest + Math.floor(Math.random() * (highest - lowest));
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => resolve(true));
    });
    if (!isFree) continue;
    await new Promise<void>((resolve) => server.close(() => resolve()));
    return port;
  }
}
