/**
 * Begins to listen.
 * @param listen rejects with what the system said
 * @throws Error with a sentence for the operator.
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
