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
  /**
   * Decides what becomes of one statement to PostgreSQL, and of everything behind it on its connection. Everything else
   * passes.
   * @param texts what the client says on one connection, one after the other; the last one is in that statement
   */
  intercept(texts: readonly RegExp[], fate: Fate): Interception;
  /** Notifications of PostgreSQL are lost from now on, and nobody notices, as behind a pooler of transactions. */
  deafen(): void;
}

export type Fate =
  /** It is carried out, and the connection breaks before the reply. */
  | 'reply-cut'
  /** It is carried out, and the reply never comes. */
  | 'reply-held'
  /** It is on its way until `deliver`, however long ago the client has given up. */
  | 'late';

export interface Interception {
  /** Its reply is lost, or it is on its way. */
  readonly met: Promise<void>;
  /** What is late arrives. Resolves when it was carried out. */
  deliver(): Promise<void>;
}

/** Closed with the test. */
export async function startTcpProxy(host: string, port: number): Promise<TcpProxy> {
  const proxy = await openTcpProxy(host, port);
  onTestFinished(proxy.close);
  return proxy;
}

/** The end of every reply of PostgreSQL. */
const readyForQuery = Buffer.from('Z\0\0\0\x05');
const listens = /listen sluice_/;

export async function openTcpProxy(
  host: string,
  port: number,
): Promise<TcpProxy & { close(): void }> {
  const sockets = new Set<Socket>();
  const listening = new Set<Socket>();
  let isCut = false;
  let isMute = false;
  let isDeaf = false;
  let delayMs = 0;
  let wanted: Wanted | null = null;

  /** @returns the fate of what the client has just said, if it is decided here */
  const caught = (turns: Map<Wanted, number>, said: string): Wanted | null => {
    if (wanted === null) return null;
    let turn = turns.get(wanted) ?? 0;
    if (wanted.texts[turn]?.test(said) === true) turns.set(wanted, (turn += 1));
    if (turn < wanted.texts.length) return null;
    const found = wanted;
    wanted = null;
    return found;
  };

  const proxy = createServer((client) => {
    if (isCut) {
      client.on('error', () => {});
      client.resetAndDestroy();
      return;
    }
    const server = connect(port, host);
    const turns = new Map<Wanted, number>();
    let own: Wanted | null = null;
    const late: Buffer[] = [];
    const hear = (bytes: Buffer): boolean => {
      if (own === null) return isDeaf && listening.has(client);
      if (!bytes.subarray(-6, -1).equals(readyForQuery)) return true;
      if (own.fate === 'reply-cut') client.resetAndDestroy();
      if (own.fate === 'late') {
        server.destroy();
        own.delivered.resolve();
      } else own.met.resolve();
      return true;
    };
    const say = (bytes: Buffer): boolean => {
      const said = bytes.toString('latin1');
      if (listens.test(said)) listening.add(client);
      own ??= caught(turns, said);
      if (own?.fate !== 'late') return false;
      late.push(bytes);
      own.deliver = () => void server.write(Buffer.concat(late));
      own.met.resolve();
      return true;
    };
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(from);
      from.on('error', () => {});
      from.on('close', () => {
        sockets.delete(from);
        listening.delete(from);
        if (own?.fate !== 'late' || from === server) to.destroy();
      });
      from.on('data', (bytes: Buffer) => {
        if (isMute && from === server) return;
        if (from === server ? hear(bytes) : say(bytes)) return;
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
      if (delayMs > 0 || isMute || isDeaf) for (const socket of sockets) socket.destroy();
      isCut = false;
      isMute = false;
      isDeaf = false;
      delayMs = 0;
    },
    intercept(texts, fate) {
      const met = Promise.withResolvers<void>();
      const delivered = Promise.withResolvers<void>();
      const own: Wanted = { texts, fate, met, delivered, deliver: () => {} };
      wanted = own;
      return {
        met: met.promise,
        deliver() {
          own.deliver();
          return delivered.promise;
        },
      };
    },
    deafen() {
      isDeaf = true;
    },
  };
}

interface Wanted {
  readonly texts: readonly RegExp[];
  readonly fate: Fate;
  readonly met: PromiseWithResolvers<void>;
  readonly delivered: PromiseWithResolvers<void>;
  deliver: () => void;
}
