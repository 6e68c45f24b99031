import { readFile } from 'node:fs/promises';
import type { Server } from 'node:http';
import { SocketAddress, type Socket } from 'node:net';

/**
 * Four checks in a row find a client silent for at least 45 s; with the pings of a stream, within 90 s of its
 * disappearance.
 */
const looks = 4;
/** By then the same bytes have been retransmitted this often. */
const leastRetransmissions = 4;

/**
 * Cuts off clients that vanished silently while bytes are in flight to them. The system's keep-alive (see the server's)
 * finds the clients with no bytes in flight. For the others, the system retransmits the first unacknowledged bytes for
 * a quarter of an hour and accepts further writes, so nothing here stalls. Node cannot set TCP_USER_TIMEOUT, so this
 * reads the kernel's connection tables on Linux. On other systems it does nothing.
 * @param every milliseconds between checks
 */
export function cutOffVanished(server: Server, every: number): void {
  const peers = new Set<Peer>();
  server.on('connection', (socket: Socket) => {
    const peer: Peer = { socket, looks: 0, times: 0 };
    peers.add(peer);
    socket.once('close', () => {
      // A Set may keep a deleted entry alive for long after (see `relay/watch.ts`).
      peer.socket = null;
      peers.delete(peer);
    });
  });

  async function look(): Promise<void> {
    if (peers.size === 0) return;
    const tables = await Promise.all(['tcp', 'tcp6'].map(readTable));
    const unheard = new Map(tables.flatMap(unacknowledgedPeers));
    for (const peer of peers) {
      const { socket } = peer;
      if (socket === null) continue;
      const times = unheard.size === 0 ? 0 : (unheard.get(nameOf(socket)) ?? 0);
      // Fewer than before: something was acknowledged in between.
      peer.looks = times === 0 ? 0 : times < peer.times ? 1 : peer.looks + 1;
      peer.times = times;
      if (peer.looks >= looks && times >= leastRetransmissions) socket.destroy();
    }
  }

  const timer = setInterval(() => void look(), every).unref();
  server.once('close', () => clearInterval(timer));
}

interface Peer {
  /** Null once it is closed. */
  socket: Socket | null;
  /** How many checks in a row found it silent. */
  looks: number;
  /** Retransmissions at the last check. */
  times: number;
}

/** As in {@link unacknowledgedPeers}. */
function nameOf({ remoteAddress, remotePort, localPort }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localPort}`;
}

/** Empty if the table does not exist. */
function readTable(name: string): Promise<string> {
  return readFile(`/proc/net/${name}`, 'latin1').catch(() => '');
}

/** Established connections (01) with a running retransmission timer (01), after at least one retransmission. */
const waitingLine =
  /^ *\d+: [0-9A-F]+:([0-9A-F]{4}) ([0-9A-F]+):([0-9A-F]{4}) 01 [0-9A-F:]+ 01:[0-9A-F]+ ([0-9A-F]{8})/gm;

/**
 * The peers that have not acknowledged retransmitted data, from the text of /proc/net/tcp or tcp6
 * (https://docs.kernel.org/networking/proc_net_tcp.html).
 * @returns `address port local-port`, and the number of retransmissions
 */
export function unacknowledgedPeers(table: string): [name: string, times: number][] {
  return [...table.matchAll(waitingLine)]
    .map(([, localPort = '', address = '', port = '', times = '']): [string, number] => [
      `${parseAddress(address)} ${Number.parseInt(port, 16)} ${Number.parseInt(localPort, 16)}`,
      Number.parseInt(times, 16),
    ])
    .filter(([, times]) => times > 0);
}

/** Four bytes at a time, in the byte order of the machine. */
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
