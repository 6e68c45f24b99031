import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { bodyForUndici, createUpstreamClient } from './client.ts';

test('a small body is passed unchanged', () => {
  const body = Buffer.from('{}');
  expect(bodyForUndici(body)).toEqual({ body, length: null });
  expect(bodyForUndici(null)).toEqual({ body: null, length: null });
});

test('a large body can be read once', () => {
  const bytes = Buffer.alloc(100_000, 'x');
  const { body, length } = bodyForUndici(bytes);
  const iterable = body as unknown as Iterable<Buffer>;
  expect(length).toBe(bytes.length);
  expect([...iterable]).toEqual([bytes]);
  expect([...iterable]).toEqual([]);
});

test.each([1_000, 1_000_000])('%d bytes arrive unchanged, with their length', async (size) => {
  const server = createServer((request, response) => {
    void buffer(request).then((body) => {
      const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
      response.end(
        JSON.stringify({ length, encoding: encoding ?? null, same: body.equals(bytes) }),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const client = createUpstreamClient({ maxConnections: 1, onDefect: () => {} });
  onTestFinished(async () => {
    await client.close();
    server.close();
  });
  const bytes = Buffer.alloc(size, 'naïve ');
  const responseBody = await new Promise<string>((resolve, reject) => {
    let text = '';
    client.send(
      {
        origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
        path: '/',
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: bytes,
        timeouts: {
          imageFirstByte: 5_000,
          connect: 5_000,
          firstByte: 5_000,
          streamIdle: 5_000,
          total: 5_000,
          keepaliveComment: 5_000,
        },
      },
      {
        onHead() {},
        onData: (chunk) => (text += chunk.toString()),
        onEnd: () => resolve(text),
        onBreak: reject,
      },
    );
  });
  expect(JSON.parse(responseBody)).toEqual({ length: String(size), encoding: null, same: true });
});
