import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** A way to a server that can be cut, made slow or made mute. */
export interface TcpProxy {
  readonly port: number;
  /** Ends every connection and takes no new ones, until `restore`. */
  cut(): void;
  /** Everything arrives this many milliseconds late, in both directions, until `restore`. */
  delay(milliseconds: number): void;
  /** What the server says is lost, until `restore`; it still receives everything. */
  mute(): void;
  restore(): void;
}

/** Closed with the test. */
export async function startTcpProxy(host: string, port: number): Promise<TcpProxy> {
  const proxy = await openTcpProxy(host, port);
  onTestFinished(proxy.close);
  return proxy;
}

export async function openTcpProxy(
  host: string,
  port: number,
): Promise<TcpProxy & { close(): void }> {
  const sockets = new Set<Socket>();
  let isCut = false;
  let isMute = false;
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
        if (isMute && from === server) return;
        const pass = () => void (to.destroyed || to.write(bytes));
        if (delayMs === 0) pass();
        else setTimeout(pass, delayMs).unref();
      });
    }
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  return {
    port: (proxy.address() as AddressInfo).port,
    close() {
      for (const socket of sockets) socket.destroy();
      proxy.close();
    },
    cut() {
      isCut = true;
      for (const socket of sockets) socket.resetAndDestroy();
    },
    delay(milliseconds) {
      delayMs = milliseconds;
    },
    mute() {
      isMute = true;
    },
    restore() {
      // What is still on its way would be overtaken, and what was lost is missing: such connections start anew.
      if (delayMs > 0 || isMute) for (const socket of sockets) socket.destroy();
      isCut = false;
      isMute = false;
      delayMs = 0;
    },
  };
}
