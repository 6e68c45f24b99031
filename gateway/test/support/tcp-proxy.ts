import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** A way to a server that can be cut or made slow. Closed with the test. */
export interface TcpProxy {
  readonly port: number;
  /** Ends every connection and takes no new ones, until `restore`. */
  cut(): void;
  /** Everything arrives this many milliseconds late, in both directions, until `restore`. */
  delay(milliseconds: number): void;
  restore(): void;
}

export async function startTcpProxy(host: string, port: number): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let isCut = false;
  let delayMs = 0;
  const proxy = createServer((client) => {
    if (isCut) {
      client.on('error', () => {});
      client.resetAndDestroy();
      return;
    }
    const server = connect(port, host);
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(from);
      from.on('error', () => {});
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
      from.on('data', (bytes) => {
        const pass = () => void (to.destroyed || to.write(bytes));
        if (delayMs === 0) pass();
        else setTimeout(pass, delayMs).unref();
      });
    }
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    proxy.close();
  });
  return {
    port: (proxy.address() as AddressInfo).port,
    cut() {
      isCut = true;
      for (const socket of sockets) socket.resetAndDestroy();
    },
    delay(milliseconds) {
      delayMs = milliseconds;
    },
    restore() {
      // What is still on its way would be overtaken: slow connections start anew.
      if (delayMs > 0) for (const socket of sockets) socket.destroy();
      isCut = false;
      delayMs = 0;
    },
  };
}
