import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { cannotLosePackets, losePackets } from '../support/packet-loss.ts';
import { delay, key, open, startGateway } from './support.ts';

const path = '/v1/chat/completions';
const head = `POST ${path} HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\n`;

/** Of the connection's end at this port: which timer runs for it, and in how many seconds it goes off. */
function timerOf(port: number, peer: number): { kind: string; seconds: number } | null {
  const hex = (number: number) => number.toString(16).toUpperCase().padStart(4, '0');
  for (const line of readFileSync('/proc/net/tcp', 'latin1').split('\n')) {
    const [, local = '', remote = '', , , timer = ''] = line.trim().split(/\s+/);
    if (!local.endsWith(`:${hex(port)}`) || !remote.endsWith(`:${hex(peer)}`)) continue;
    const [kind = '', ticks = ''] = timer.split(':');
    // A hundred ticks a second, whatever the kernel's own clock.
    return { kind, seconds: Number.parseInt(ticks, 16) / 100 };
  }
  return null;
}

describe.runIf(process.platform === 'linux')('R-21 a client that vanished without a FIN', () => {
  it('is probed by the system on every accepted connection, within half a minute', async () => {
    const gateway = await startGateway({
      run: async ({ client }) => {
        client.start(200, { 'content-type': 'text/event-stream' });
        client.write('data: 1\n\n');
        await delay(200);
        client.end('data: [DONE]\n\n');
      },
    });
    const socket = open(gateway.port);
    socket.write(`${head}content-length: 2\r\n\r\n{}`);
    await once(socket, 'data');
    // While a response is under way, and while the connection waits for the next request. 02 is keep-alive.
    const peer = socket.localPort ?? 0;
    await expect.poll(() => timerOf(gateway.port, peer)?.kind).toBe('02');
    const { seconds } = timerOf(gateway.port, peer)!;
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThanOrEqual(30);
    socket.destroy();
  });
});

describe.skipIf(cannotLosePackets !== null)(
  `R-21 a client whose packets are lost ${cannotLosePackets ?? ''}`,
  () => {
    it.each([
      ['who gets something now and then', 20],
      ['who gets nothing new', 1],
    ])('%s is cut off, although the system accepts the writes', async (_name, events) => {
      let left = 0;
      const gateway = await startGateway({
        server: { vanishedLook: 50 },
        run: async ({ client }) => {
          const gone = Promise.withResolvers<void>();
          client.onDisconnect(gone.resolve);
          client.start(200, { 'content-type': 'text/event-stream' });
          client.write('data: 0\n\n');
          for (let index = 0; index < events; index++) {
            await delay(100);
            client.write(`data: ${index}\n\n`);
          }
          await gone.promise;
          left += 1;
        },
      });
      const [lost, other] = [open(gateway.port), open(gateway.port)];
      for (const socket of [lost, other]) {
        socket.on('error', () => {});
        socket.write(`${head}content-length: 2\r\n\r\n{}`);
        await once(socket, 'data');
      }
      losePackets(lost.localPort ?? 0);
      await expect.poll(() => left, { timeout: 15_000 }).toBe(1);
      // Who is there stays.
      await delay(200);
      expect(left).toBe(1);
      expect(gateway.unexpected).toEqual([]);
      lost.destroy();
      other.destroy();
    });
  },
);
