import { describe, expect, it } from 'vitest';
import { delay, key, raw, startGateway } from './support.ts';

const path = '/v1/chat/completions';
const head = `POST ${path} HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\n`;

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
    let isDraining = false;
    const gateway = await startGateway({
      server: { isDraining: () => isDraining },
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
    isDraining = true;
    const closed = gateway.server.close();
    expect(await running).toContain('data: [DONE]\n\n');
    expect(await running).toContain('content-type: text/event-stream\r\n');
    await closed;
  });
});
