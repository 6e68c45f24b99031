import { Agent, request } from 'node:http';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { delay, key, open, startGateway } from './support.ts';

const body = '{"model":"m","messages":[]}';
const one = `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;

/** A gateway that answers each exchange a moment later with its number, and counts those under way. */
async function startCounting(milliseconds: number) {
  const seen = { begun: 0, underWay: 0, most: 0 };
  const gateway = await startGateway({
    server: { requestsPerConnection: 1_000_000 },
    run: async ({ client }) => {
      const number = (seen.begun += 1);
      seen.underWay += 1;
      seen.most = Math.max(seen.most, seen.underWay);
      await delay(milliseconds);
      seen.underWay -= 1;
      client.start(200, { 'content-type': 'text/plain' });
      client.end(`<${number}>`);
    },
  });
  return { gateway, seen };
}

describe('pipelined requests', () => {
  it('are all answered, in order, and never all at once', async () => {
    const { gateway, seen } = await startCounting(5);
    const socket = open(gateway.port);
    const count = 3_000;
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
    });
    socket.write(one.repeat(count));
    while (!received.includes(`<${count}>`)) await delay(20);
    socket.destroy();
    const numbers = Array.from(received.matchAll(/<(\d+)>/g), ([, number]) => Number(number));
    expect(numbers).toEqual(Array.from({ length: count }, (_, index) => index + 1));
    // One read of a socket brings 64 KiB.
    expect(seen.most).toBeLessThan(1.2 * (65_536 / one.length));
  });

  it('may be a few', async () => {
    const { gateway, seen } = await startCounting(200);
    const socket = open(gateway.port);
    socket.write(one.repeat(8));
    while (seen.begun < 8) await delay(5);
    expect(seen.most).toBe(8);
    socket.destroy();
  });

  it('that stop half-way through a body are resumed', async () => {
    const { gateway } = await startCounting(5);
    const socket = open(gateway.port);
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
    });
    const all = one.repeat(40);
    socket.write(all.slice(0, -10));
    await delay(100);
    socket.write(all.slice(-10));
    while (!received.includes('<40>')) await delay(20);
    expect(received.match(/HTTP\/1\.1 200/g)).toHaveLength(40);
    socket.destroy();
  });

  it('do not hide that the client disconnects', async () => {
    const { gateway, seen } = await startCounting(50);
    const socket = open(gateway.port);
    socket.on('error', () => {});
    socket.write(one.repeat(2_000));
    while (seen.begun < 100) await delay(5);
    socket.destroy();
    await once(socket, 'close');
    await delay(500);
    const { begun } = seen;
    await delay(300);
    expect(seen.begun).toBe(begun);
    expect(begun).toBeLessThan(2_000);
    expect(gateway.unexpected).toEqual([]);
  });
});

describe('a connection that has served its number of requests', () => {
  it('is closed after a response that announces it, and no request is lost', async () => {
    const gateway = await startGateway({
      server: { requestsPerConnection: 5 },
      run: async ({ client }) => {
        client.start(200, { 'content-type': 'text/plain' });
        client.end('ok');
      },
    });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const responses: [status: number | undefined, connection: string | undefined, port: number][] =
      [];
    for (let at = 0; at < 12; at += 1) {
      responses.push(
        await new Promise((resolve, reject) => {
          const sent = request(
            {
              agent,
              port: gateway.port,
              method: 'POST',
              path: '/v1/chat/completions',
              headers: { 'x-api-key': key, 'content-type': 'application/json' },
            },
            (response) => {
              const port = response.socket.localPort ?? 0;
              response.resume().on('end', () => {
                resolve([response.statusCode, response.headers.connection, port]);
              });
            },
          );
          sent.on('error', reject);
          sent.end(body);
        }),
      );
    }
    agent.destroy();
    expect(responses.map(([status]) => status)).toEqual(Array.from({ length: 12 }, () => 200));
    expect(responses.map(([, connection]) => connection === 'close')).toEqual(
      Array.from({ length: 12 }, (_, at) => at % 5 === 4),
    );
    expect(new Set(responses.map(([, , port]) => port)).size).toBe(3);
  });
});
