import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { readTlsFiles } from './tls-files.ts';

interface Address {
  readonly host: string;
  readonly port: number;
  /** Where the operator sets it; absent: `server.host` and `server.port`. */
  readonly setting?: string;
}

/**
 * Checks that a server with these settings can be opened, before anything else is created. Returns its port (a free one
 * for 0), which is released at once.
 * @throws Error with a message for the operator.
 */
export async function tryListening(
  address: Address & {
    readonly tls: { readonly cert: string; readonly key: string } | null;
  },
): Promise<number> {
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
  { host, port, setting }: Address,
  listen: () => Promise<unknown>,
): Promise<void> {
  try {
    await listen();
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const address = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
    const words: Readonly<Record<string, string>> = {
      EADDRINUSE: `${setting ?? 'server.port'}: ${address} is in use by another program`,
      EACCES: `${setting ?? 'server.port'}: this user may not listen on ${address}`,
      EADDRNOTAVAIL: `${setting ?? 'server.host'}: this machine has no address ${host}`,
      ENOTFOUND: `${setting ?? 'server.host'}: there is no host ${host}`,
    };
    throw new Error(
      words[code ?? ''] ?? `${setting ?? 'server.port'}: cannot listen on ${address}: ${message}`,
      {
        cause,
      },
    );
  }
}
