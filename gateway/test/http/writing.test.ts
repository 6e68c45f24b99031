import { describe, expect, it } from 'vitest';
import { delay, key, open, raw, startGateway } from './support.ts';

const path = '/v1/chat/completions';
const head = `POST ${path} HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\n`;

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
    const response = await raw(gateway.port, request);
    expect(response).not.toContain('0\r\n\r\n');
    expect(gateway.unexpected).toHaveLength(1);
  });
});
