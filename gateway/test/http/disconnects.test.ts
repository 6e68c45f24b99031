import { describe, expect, it } from 'vitest';
import { delay, key, open, raw, startGateway } from './support.ts';

const path = '/v1/chat/completions';
const head = `POST ${path} HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\n`;

describe('half-close', () => {
  it('after the request still gets the whole response', async () => {
    let left = false;
    const gateway = await startGateway({
      run: async ({ client }) => {
        client.onDisconnect(() => {
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
    const response = await raw(gateway.port, 'GET /health HTTP/1.1\r\nhost: x\r\n\r\n', false);
    expect(response).toContain('"ok"');
    expect(await raw(gateway.port, '', false)).toBe('');
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
        client.onDisconnect(() => {
          leaves++;
          gone.resolve();
        });
        await gone.promise;
        expect(client.disconnected).toBe(true);
        expect(client.write('data: 2\n\n')).toBe(true);
        client.end();
        await new Promise<void>((resolve) => {
          client.onDisconnect(resolve);
        });
      },
    });
    const socket = open(gateway.port);
    socket.on('error', () => {});
    socket.write(request);
    await expect.poll(() => gateway.exchanges.length).toBe(1);
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
        client.onDisconnect(() => gone.resolve());
        client.start(200, { 'content-type': 'text/event-stream' });
        while (!client.disconnected) {
          client.write('data: x\n\n');
          await delay(5);
        }
      },
    });
    const socket = open(gateway.port);
    socket.on('error', () => {});
    socket.write(request);
    await expect.poll(() => gateway.exchanges.length).toBe(1);
    socket.destroy();
    await gone.promise;
    expect(gateway.unexpected).toEqual([]);
  });

  it('is noticed behind another request of the same connection', async () => {
    const gone = Promise.withResolvers<void>();
    let runs = 0;
    const gateway = await startGateway({
      run: async ({ client }) => {
        if (++runs === 2) client.onDisconnect(() => gone.resolve());
        await gone.promise;
      },
    });
    const socket = open(gateway.port);
    socket.on('error', () => {});
    socket.write(request + request);
    await expect.poll(() => runs).toBe(2);
    socket.resetAndDestroy();
    await gone.promise;
    expect(runs).toBe(2);
  });

  it('is not reported if its response was complete', async () => {
    let left = false;
    const gateway = await startGateway({
      run: async ({ client }) => {
        client.onDisconnect(() => {
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
