import { readFile } from 'node:fs/promises';
import type { Server } from 'node:http';
import { SocketAddress, type Socket } from 'node:net';

/** Four looks in a row see a client gone for 45 s at least; with the pings of a stream within 90 s of its leaving. */
const looks = 4;
/** So often the same bytes have been sent in vain by then. */
const leastRetransmissions = 4;

/**
 * Cuts off clients that vanished without a word while bytes are on their way to them. The system's keep-alive (see the
 * server's) finds those to whom nothing is on its way. Of the others it goes on to send the first unacknowledged bytes
 * for a quarter of an hour, and takes what is written after them, so that nothing here stalls. Node cannot set
 * TCP_USER_TIMEOUT: Linux is asked what it knows of its connections. Elsewhere nothing happens.
 * @param every milliseconds between two looks
 */
export function cutOffVanished(server: Server, every: number): void {
  const peers = new Set<Peer>();
  server.on('connection', (socket: Socket) => {
    const peer: Peer = { socket, looks: 0, times: 0 };
    peers.add(peer);
    socket.once('close', () => {
      // What such a set was once told may look alive for long after (see `relay/watch.ts`).
      peer.socket = null;
      peers.delete(peer);
    });
  });

  async function look(): Promise<void> {
    if (peers.size === 0) return;
    const tables = await Promise.all(['tcp', 'tcp6'].map(readTable));
    const unheard = new Map(tables.flatMap(unacknowledged));
    for (const peer of peers) {
      const { socket } = peer;
      if (socket === null) continue;
      const times = unheard.size === 0 ? 0 : (unheard.get(nameOf(socket)) ?? 0);
      // Fewer than before: something was acknowledged meanwhile.
      peer.looks = times === 0 ? 0 : times < peer.times ? 1 : peer.looks + 1;
      peer.times = times;
      if (peer.looks >= looks && times >= leastRetransmissions) socket.destroy();
    }
  }

  const timer = setInterval(() => void look(), every).unref();
  server.once('close', () => clearInterval(timer));
}

interface Peer {
  /** Null when it is closed. */
  socket: Socket | null;
  /** How many looks in a row saw it silent. */
  looks: number;
  /** Retransmissions at the last look. */
  times: number;
}

/** As in {@link unacknowledged}. */
function nameOf({ remoteAddress, remotePort, localPort }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localPort}`;
}

/** Empty where there is none. */
function readTable(name: string): Promise<string> {
  return readFile(`/proc/net/${name}`, 'latin1').catch(() => '');
}

/** Established connections (01) whose retransmission timer runs (01), after one retransmission or more. */
const waitingLine =
  /^ *\d+: [0-9A-F]+:([0-9A-F]{4}) ([0-9A-F]+):([0-9A-F]{4}) 01 [0-9A-F:]+ 01:[0-9A-F]+ ([0-9A-F]{8})/gm;

/**
 * Who has not acknowledged what was sent again already, in the text of /proc/net/tcp or tcp6
 * (https://docs.kernel.org/networking/proc_net_tcp.html).
 * @returns `address port local-port`, and how often it was sent again
 */
export function unacknowledged(table: string): [name: string, times: number][] {
  return [...table.matchAll(waitingLine)]
    .map(([, localPort = '', address = '', port = '', times = '']): [string, number] => [
      `${parseAddress(address)} ${Number.parseInt(port, 16)} ${Number.parseInt(localPort, 16)}`,
      Number.parseInt(times, 16),
    ])
    .filter(([, times]) => times > 0);
}

/** Four bytes at a time, in the order of the machine. */
function parseAddress(hex: string): string {
  const bytes = Buffer.from(hex, 'hex');
  if (isLittleEndian) bytes.swap32();
  if (bytes.length === 4) return bytes.join('.');
  const groups = Array.from({ length: 8 }, (_, group) =>
    bytes.readUInt16BE(2 * group).toString(16),
  );
  return new SocketAddress({ address: groups.join(':'), family: 'ipv6' }).address;
}

const isLittleEndian = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;
