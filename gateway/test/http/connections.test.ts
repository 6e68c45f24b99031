import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { malformedRequests } from './malformed-requests.ts';
import { cannotLosePackets, losePackets } from '../support/packet-loss.ts';
import { key, delay, open, raw, startGateway } from './support.ts';

const path = '/v1/chat/completions';
const head = `POST ${path} HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\n`;

describe('S-24 malformed HTTP gets 400 or is cut, and runs nothing', () => {
  it.each(malformedRequests(key))('%s', async (_name, bytes) => {
    const gateway = await startGateway();
    const response = await raw(gateway.port, Buffer.from(bytes, 'latin1'));
    expect(response).toMatch(/^(?:|HTTP\/1\.1 4(?:00|31) .*)$/s);
    expect(response.match(/HTTP\/1\.1/g)?.length ?? 0).toBeLessThanOrEqual(1);
    expect(gateway.exchanges).toEqual([]);
    expect(gateway.unexpected).toEqual([]);
  });

  it('a 400 carries a request id', async () => {
    const gateway = await startGateway();
    const response = await raw(gateway.port, 'nonsense\r\n\r\n');
    expect(response).toMatch(/^HTTP\/1\.1 400 Bad Request\r\nx-request-id: req_[\w-]{24}\r\n/);
  });

  it('never breaks into a response that has begun', async () => {
    const gateway = await startGateway({
      run: async ({ client }) => {
        client.start(200, { 'content-type': 'text/event-stream' });
        client.write('data: 1\n\n');
        await delay(100);
        client.end('data: 2\n\n');
      },
    });
    const socket = open(gateway.port);
    socket.on('error', () => {});
    socket.write(`${head}content-length: 2\r\n\r\n{}`);
    let received = '';
    socket.on('data', (chunk) => {
      if (received === '') socket.write('GARBAGE\r\n\r\n');
      received += chunk.toString();
    });
    socket.on('end', () => socket.end());
    await new Promise((resolve) => {
      socket.on('close', resolve);
    });
    expect(received).toContain('data: 1');
    expect(received.match(/HTTP\/1\.1/g)).toHaveLength(1);
  });
});

describe('S-24 slow requests are cut', () => {
  const encodings = ['content-length: 5000\r\n', 'transfer-encoding: chunked\r\n'];

  it.each([
    ['a head that stops', 'POST /v1/messages HTTP/1.1\r\nhost: x\r\nx-a: ', ''],
    ['a head in trickles', 'POST /v1/messages HTTP/1.1\r\nhost: x\r\nx-a: ', 'b'],
    ['a first line in trickles', 'POST /v1/', 'm'],
    ...encodings.flatMap((encoding) => [
      [`a body that stops, ${encoding.trim()}`, `${head}${encoding}\r\n`, ''],
      [
        `a body in trickles, ${encoding.trim()}`,
        `${head}${encoding}\r\n`,
        encoding.startsWith('t') ? '1\r\n \r\n' : ' ',
      ],
    ]),
  ])('%s', async (_name, beginning, more) => {
    const gateway = await startGateway({ server: { headersTimeout: 100, requestTimeout: 200 } });
    const started = performance.now();
    const socket = open(gateway.port);
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk.toString();
    });
    socket.on('error', () => {});
    socket.write(beginning);
    const trickle = setInterval(() => {
      if (more !== '' && socket.writable) socket.write(more);
    }, 20);
    await new Promise((resolve) => {
      socket.on('end', resolve);
      socket.on('close', resolve);
    });
    clearInterval(trickle);
    socket.destroy();
    expect(received).toMatch(/^HTTP\/1\.1 408 .*connection: close\r\n/s);
    expect(performance.now() - started).toBeLessThan(15_000);
    expect(gateway.exchanges).toEqual([]);
    expect(gateway.unexpected).toEqual([]);
  });
});

describe('the tuning', () => {
  it('is set on the server', async () => {
    const gateway = await startGateway();
    const { server } = gateway.server;
    expect(server.keepAliveTimeout).toBe(75_000);
    expect(server.headersTimeout).toBe(15_000);
    expect(server.requestTimeout).toBe(120_000);
    expect(Reflect.get(server, 'connectionsCheckingInterval')).toBe(5_000);
    expect(Reflect.get(server, 'httpAllowHalfOpen')).toBe(true);
    expect(Reflect.get(server, 'allowHalfOpen')).toBe(true);
    expect(Reflect.get(server, 'noDelay')).toBe(true);
    expect(Reflect.get(server, 'keepAlive')).toBe(true);
    expect(Reflect.get(server, 'keepAliveInitialDelay')).toBe(30);
  });
});

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
    await expect.poll(() => timerOf(gateway.port, peer)?.kind, { timeout: 5_000 }).toBe('02');
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
          client.onLeave(gone.resolve);
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
      other.destroy();
    });
  },
);

describe('request ids', () => {
  it('are our own, whatever arrives, and unique', async () => {
    const gateway = await startGateway();
    const ids = new Set<string>();
    for (let index = 0; index < 300; index++) {
      const response = await raw(
        gateway.port,
        'GET /health HTTP/1.1\r\nhost: x\r\nx-request-id: mine\r\nrequest-id: mine\r\nconnection: close\r\n\r\n',
      );
      expect(response.match(/request-id:/gi)).toHaveLength(1);
      ids.add(/x-request-id: (req_[\w-]{24})\r\n/.exec(response)?.[1] ?? '');
    }
    expect(ids.size).toBe(300);
  });

  it('exist even if the client sends an odd expectation', async () => {
    const gateway = await startGateway();
    const response = await raw(
      gateway.port,
      'GET /health HTTP/1.1\r\nhost: x\r\nexpect: wonders\r\nconnection: close\r\n\r\n',
    );
    expect(response).toMatch(/^HTTP\/1\.1 200 OK\r\nx-request-id: req_/);
  });
});

describe('stopping', () => {
  it('lets a running response end, complete and with its own headers', async () => {
    const begun = Promise.withResolvers<void>();
    const gateway = await startGateway({
      run: async ({ client }) => {
        begun.resolve();
        await delay(80);
        client.start(200, { 'content-type': 'text/event-stream' });
        client.write('data: 1\n\n');
        await delay(20);
        client.end('data: [DONE]\n\n');
      },
    });
    const running = raw(gateway.port, `${head}content-length: 2\r\n\r\n{}`);
    await begun.promise;
    const closed = gateway.server.close();
    expect(await running).toContain('data: [DONE]\n\n');
    expect(await running).toContain('content-type: text/event-stream\r\n');
    await closed;
  });
});

describe('half-close', () => {
  it('after the request still gets the whole response', async () => {
    let left = false;
    const gateway = await startGateway({
      run: async ({ client }) => {
        client.onLeave(() => {
          left = true;
        });
        await delay(50);
        client.start(200, { 'content-type': 'text/event-stream' });
        for (let index = 0; index < 5; index++) {
          client.write(`data: ${index}\n\n`);
          await delay(10);
        }
        client.end('data: [DONE]\n\n');
      },
    });
    const response = await raw(gateway.port, `${head}content-length: 2\r\n\r\n{}`, false);
    expect(response).toContain('data: 4\n\n');
    expect(response).toContain('data: [DONE]\n\n');
    expect(left).toBe(false);
  });

  it('of an idle connection closes it', async () => {
    const gateway = await startGateway();
    const started = performance.now();
    const response = await raw(gateway.port, 'GET /health HTTP/1.1\r\nhost: x\r\n\r\n', false);
    expect(response).toContain('"ok"');
    expect(await raw(gateway.port, '', false)).toBe('');
    expect(performance.now() - started).toBeLessThan(15_000);
  });

  it('also after a chunked body', async () => {
    const gateway = await startGateway();
    const body = `${head}transfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`;
    expect(await raw(gateway.port, body, false)).toContain('{"ok":true}');
  });
});

describe('a client that disconnects', () => {
  const request = `${head}content-length: 2\r\n\r\n{}`;

  it.each(['before the head', 'in mid-stream'])('%s is noticed once', async (moment) => {
    let leaves = 0;
    const gone = Promise.withResolvers<void>();
    const gateway = await startGateway({
      run: async ({ client }) => {
        if (moment === 'in mid-stream') {
          client.start(200, { 'content-type': 'text/event-stream' });
          client.write('data: 1\n\n');
        }
        client.onLeave(() => {
          leaves++;
          gone.resolve();
        });
        await gone.promise;
        expect(client.left).toBe(true);
        expect(client.write('data: 2\n\n')).toBe(true);
        client.end();
        await new Promise<void>((resolve) => {
          client.onLeave(resolve);
        });
      },
    });
    const socket = open(gateway.port);
    socket.on('error', () => {});
    socket.write(request);
    await expect.poll(() => gateway.exchanges.length, { timeout: 5_000 }).toBe(1);
    await delay(10);
    socket.resetAndDestroy();
    await gone.promise;
    await delay(20);
    expect(leaves).toBe(1);
    expect(gateway.unexpected).toEqual([]);
  });

  it('is noticed by the next write if its connection closed quietly', async () => {
    const gone = Promise.withResolvers<void>();
    const gateway = await startGateway({
      run: async ({ client }) => {
        client.onLeave(() => gone.resolve());
        client.start(200, { 'content-type': 'text/event-stream' });
        while (!client.left) {
          client.write('data: x\n\n');
          await delay(5);
        }
      },
    });
    const socket = open(gateway.port);
    socket.on('error', () => {});
    socket.write(request);
    await expect.poll(() => gateway.exchanges.length, { timeout: 5_000 }).toBe(1);
    socket.destroy();
    await gone.promise;
    expect(gateway.unexpected).toEqual([]);
  });

  it('is noticed behind another request of the same connection', async () => {
    const gone = Promise.withResolvers<void>();
    let runs = 0;
    const gateway = await startGateway({
      run: async ({ client }) => {
        if (++runs === 2) client.onLeave(() => gone.resolve());
        await gone.promise;
      },
    });
    const socket = open(gateway.port);
    socket.on('error', () => {});
    socket.write(request + request);
    await expect.poll(() => runs, { timeout: 5_000 }).toBe(2);
    socket.resetAndDestroy();
    await gone.promise;
    expect(runs).toBe(2);
  });

  it('is not reported if its response was complete', async () => {
    let left = false;
    const gateway = await startGateway({
      run: async ({ client }) => {
        client.onLeave(() => {
          left = true;
        });
        client.start(200, {});
        client.end('done');
      },
    });
    expect(
      await raw(gateway.port, `${head}connection: close\r\ncontent-length: 2\r\n\r\n{}`),
    ).toContain('done');
    await delay(20);
    expect(left).toBe(false);
  });
});

describe('writing a response', () => {
  const request = `${head}connection: close\r\ncontent-length: 2\r\n\r\n{}`;

  it('sends the head alone if nothing follows at once', async () => {
    const seen = Promise.withResolvers<void>();
    const gateway = await startGateway({
      run: async ({ client }) => {
        expect(client.headSent).toBe(false);
        client.start(200, { 'content-type': 'text/event-stream' });
        expect(client.headSent).toBe(true);
        await seen.promise;
        client.end('data: 1\n\n');
      },
    });
    const socket = open(gateway.port);
    socket.write(request);
    const first = await new Promise<string>((resolve) => {
      socket.once('data', (chunk) => resolve(chunk.toString()));
    });
    expect(first).toMatch(/^HTTP\/1\.1 200 OK\r\n.*\r\n\r\n$/s);
    expect(first).toContain('x-request-id: req_');
    seen.resolve();
    socket.resume();
    await new Promise((resolve) => {
      socket.on('end', resolve);
    });
    socket.destroy();
  });

  it('gives a body sent in one piece its length', async () => {
    const gateway = await startGateway({
      run: async ({ client }) => {
        client.start(200, { 'content-type': 'application/json' });
        client.end('{"è":1}');
      },
    });
    const response = await raw(gateway.port, request);
    expect(response).toContain('content-length: 8\r\n');
    expect(response).not.toContain('chunked');
  });

  it.each(['close', 'keep-alive'])(
    'is plain and ends with the connection for HTTP/1.0, which some proxies speak (%s)',
    async (connection) => {
      const gateway = await startGateway({
        run: async ({ client }) => {
          client.start(200, { 'content-type': 'text/event-stream' });
          client.write('data: 1\n\n');
          await delay(20);
          client.end('data: [DONE]\n\n');
        },
      });
      const response = await raw(
        gateway.port,
        `${head.replace('HTTP/1.1', 'HTTP/1.0')}connection: ${connection}\r\ncontent-length: 2\r\n\r\n{}`,
      );
      expect(response).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\ndata: 1\n\ndata: \[DONE\]\n\n$/);
      expect(response).toMatch(/^connection: close\r$/im);
      expect(response).not.toMatch(/transfer-encoding/i);
    },
  );

  it('reports when to pause and when to continue', async () => {
    let drains = 0;
    const chunk = Buffer.alloc(256 * 1024, 120);
    const gateway = await startGateway({
      run: async ({ client }) => {
        client.start(200, { 'content-type': 'text/event-stream' });
        let wake = (): void => {};
        client.onDrain(() => {
          drains++;
          wake();
        });
        for (let index = 0; index < 100; index++) {
          if (!client.write(chunk)) {
            await new Promise<void>((resolve) => {
              wake = resolve;
            });
          }
        }
        client.end();
      },
    });
    const response = await raw(gateway.port, request);
    expect(response.length).toBeGreaterThan(100 * chunk.length);
    expect(drains).toBeGreaterThan(5);
  });

  it('cuts the connection if the relay breaks after it began', async () => {
    const gateway = await startGateway({
      run: async ({ client }) => {
        client.start(200, { 'content-type': 'text/event-stream' });
        client.write('data: 1\n\n');
        throw new Error('broken');
      },
    });
    const started = performance.now();
    const response = await raw(gateway.port, request);
    expect(performance.now() - started).toBeLessThan(15_000);
    expect(response).not.toContain('0\r\n\r\n');
    expect(gateway.unexpected).toHaveLength(1);
  });
});
