import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { readTlsFiles } from './tls-files.ts';

/**
 * Checks that a server with these settings can be opened, before anything else is created. Returns its port (a free one
 * for 0), which is released at once.
 * @throws Error with a message for the operator.
 */
export async function tryListening(address: {
  readonly host: string;
  readonly port: number;
  readonly tls: { readonly cert: string; readonly key: string } | null;
}): Promise<number> {
  if (address.tls !== null) readTlsFiles(address.tls);
  const server = createServer();
  await listenOn(address, () => {
    const listening = once(server, 'listening');
    server.listen(address.port, address.host);
    return listening;
  });
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/**
 * Starts to listen.
 * @param listen rejects with the system's error
 * @throws Error with a message for the operator.
 */
export async function listenOn(
  { host, port }: { readonly host: string; readonly port: number },
  listen: () => Promise<unknown>,
): Promise<void> {
  try {
    await listen();
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const address = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
    const words: Readonly<Record<string, string>> = {
      EADDRINUSE: `server.port: ${address} is in use by another program`,
      EACCES: `server.port: this user may not listen on ${address}`,
      EADDRNOTAVAIL: `server.host: this machine has no address ${host}`,
      ENOTFOUND: `server.host: there is no host ${host}`,
    };
    throw new Error(words[code ?? ''] ?? `server.port: cannot listen on ${address}: ${message}`, {
      cause,
    });
  }
}
