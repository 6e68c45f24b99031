import { once } from 'node:events';
import { brotliCompressSync, constants, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import {
  bearer,
  call,
  delay,
  key,
  open,
  raw,
  startGateway,
  type ClientResponse,
} from './support.ts';

const path = '/v1/chat/completions';
const json = { ...bearer(), 'content-type': 'application/json' };
const mebibyte = 1024 * 1024;

function messageOf(response: ClientResponse): unknown {
  const error: Record<string, unknown> = response.json?.['error'] ?? {};
  return error['message'];
}

describe('content types', () => {
  it.each([
    ['application/json', 200],
    ['Application/JSON', 200],
    ['application/json; charset=utf-8', 200],
    ['application/json;charset="utf-8"; x=y', 200],
    ['application/json;', 200],
    ['application/json ; charset=utf8', 200],
    ['text/plain', 415],
    ['application/x-www-form-urlencoded', 415],
    ['application/jsonp', 415],
    ['application/json, text/html', 415],
    ['multipart/form-data; boundary=x', 415],
    ['json', 415],
  ])('%s → %i', async (type, expected) => {
    const gateway = await startGateway();
    const headers = { ...bearer(), 'content-type': type };
    const response = await call(gateway.port, path, { headers, body: '{}' });
    expect(response.status).toBe(expected);
    if (expected === 415) expect(messageOf(response)).toBe('unsupported content type');
  });

  it('may be missing', async () => {
    const gateway = await startGateway();
    const response = await call(gateway.port, path, { headers: bearer(), body: '{"a":1}' });
    expect(response.status).toBe(200);
    expect(gateway.exchanges[0]?.body.toString()).toBe('{"a":1}');
  });
});

describe('content encodings', () => {
  const text = JSON.stringify({ text: 'x'.repeat(100_000) });
  const small = { server: { bodyLimit: 200_000 } };

  it.each([
    ['gzip', gzipSync(text)],
    ['GZIP', gzipSync(text)],
    ['x-gzip', gzipSync(text)],
    ['br', brotliCompressSync(text)],
    ['zstd', zstdCompressSync(text)],
    ['identity', Buffer.from(text)],
    ['', Buffer.from(text)],
  ])('%s is decoded', async (encoding, body) => {
    const gateway = await startGateway(small);
    const headers = { ...json, 'content-encoding': encoding };
    expect((await call(gateway.port, path, { headers, body })).status).toBe(200);
    expect(gateway.exchanges[0]?.body.toString()).toBe(text);
  });

  it.each([
    ['deflate', deflateSync(text)],
    ['gzip, gzip', gzipSync(gzipSync(text))],
    ['gzip, br', gzipSync(text)],
    ['snappy', Buffer.from(text)],
  ])('%s is unsupported', async (encoding, body) => {
    const gateway = await startGateway(small);
    const headers = { ...json, 'content-encoding': encoding };
    const response = await call(gateway.port, path, { headers, body });
    expect(response.status).toBe(415);
    expect(messageOf(response)).toBe('unsupported content encoding');
  });

  it('zstd with a window larger than 8 MiB is refused', async () => {
    const params = { [constants.ZSTD_c_windowLog]: 27 };
    const body = zstdCompressSync(Buffer.alloc(10 * mebibyte), { params });
    const gateway = await startGateway();
    const headers = { ...json, 'content-encoding': 'zstd' };
    expect((await call(gateway.port, path, { headers, body })).status).toBe(400);
  });

  const bomb = Buffer.alloc(64 * mebibyte);
  it.each([
    ['gzip', gzipSync(bomb)],
    ['br', brotliCompressSync(bomb, { params: { 1: 5 } })],
    ['zstd', zstdCompressSync(bomb)],
  ])('a %s bomb stops at the limit', async (encoding, body) => {
    const gateway = await startGateway(small);
    // The rest never comes: only who does not wait for the end can refuse it.
    const socket = open(gateway.port);
    socket.write(
      `POST ${path} HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\ncontent-type: application/json\r\n` +
        `content-encoding: ${encoding}\r\ncontent-length: ${body.length}\r\n\r\n`,
    );
    socket.write(body.subarray(0, body.length / 2));
    const [response] = (await once(socket, 'data')) as [Buffer];
    socket.destroy();
    expect(response.toString()).toMatch(/^HTTP\/1\.1 413 [^]*request body too large/);
    expect(gateway.exchanges).toEqual([]);
  });

  it.each([
    ['gzip', gzipSync(text).subarray(0, -20)],
    ['gzip', Buffer.from(text)],
    ['br', brotliCompressSync(text).subarray(0, -5)],
    ['br', Buffer.from('\u0000garbage')],
    ['zstd', zstdCompressSync(text).subarray(0, -5)],
    ['zstd', Buffer.from(text)],
    ['gzip', gzipSync('')],
  ])('corrupt or empty %s is an invalid body', async (encoding, body) => {
    const gateway = await startGateway(small);
    const headers = { ...json, 'content-encoding': encoding };
    const response = await call(gateway.port, path, { headers, body });
    expect(response.status).toBe(400);
    expect(messageOf(response)).toBe('invalid request body');
    expect(gateway.unexpected).toEqual([]);
  });
});

describe('size', () => {
  const small = { server: { bodyLimit: 1000 } };

  it.each([
    ['declared', { 'content-length': '1001' }, 413],
    ['chunked', { 'transfer-encoding': 'chunked' }, 413],
  ])('%s over the limit', async (_name, extra, expected) => {
    const gateway = await startGateway(small);
    const headers = { ...json, ...extra };
    const response = await call(gateway.port, path, { headers, body: Buffer.alloc(1001, 32) });
    expect(response.status).toBe(expected);
    expect(gateway.exchanges).toEqual([]);
  });

  it.each([{}, { 'transfer-encoding': 'chunked' }])('exactly the limit %o', async (extra) => {
    const gateway = await startGateway(small);
    const body = Buffer.alloc(1000, 32);
    const response = await call(gateway.port, path, { headers: { ...json, ...extra }, body });
    expect(response.status).toBe(200);
    expect(gateway.exchanges[0]?.body).toHaveLength(1000);
  });

  it.each([
    ['declared', {}],
    ['chunked', { 'transfer-encoding': 'chunked' }],
  ])('65 MiB %s: the client reads its response, not a reset', async (_name, extra) => {
    const gateway = await startGateway();
    const body = Buffer.alloc(65 * mebibyte, 32);
    const response = await call(gateway.port, path, { headers: { ...json, ...extra }, body });
    expect(response.status).toBe(413);
    expect(messageOf(response)).toBe('request body too large');
    expect(response.headers.connection).toBe('close');
    const unknown = await call(gateway.port, path, { headers: { 'x-api-key': 'sk-no' }, body });
    expect(unknown.status).toBe(401);
  });

  it.each(['', 'content-length: 0\r\n', 'transfer-encoding: chunked\r\n'])(
    'an empty body is invalid (%j)',
    async (header) => {
      const gateway = await startGateway();
      const end = header.startsWith('t') ? '0\r\n\r\n' : '';
      const response = await raw(
        gateway.port,
        `POST ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\nx-api-key: ${key}\r\n${header}\r\n${end}`,
      );
      expect(response).toContain('HTTP/1.1 400');
      expect(response).toContain('invalid request body');
    },
  );

  it('a body shorter than declared is not a request', async () => {
    const gateway = await startGateway();
    const head = `POST ${path} HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\ncontent-length: 50\r\n\r\n`;
    const response = await raw(gateway.port, `${head}{"a":1}`, false);
    expect(response).not.toContain('HTTP/1.1 200');
    expect(gateway.exchanges).toEqual([]);
  });
});

describe.each([
  '/v1/chat/completions',
  '/v1/responses',
  '/v1/messages',
  '/v1beta/models/m:generateContent',
])('S-22 %s', (endpoint) => {
  it('refuses 64 MiB without a declared length while they are being sent', async () => {
    const gateway = await startGateway();
    const socket = open(gateway.port);
    const response: string[] = [];
    socket.on('data', (piece) => void response.push(piece.toString()));
    socket.write(
      `POST ${endpoint} HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\ntransfer-encoding: chunked\r\n\r\n`,
    );
    const chunk = Buffer.from(`100000\r\n${' '.repeat(mebibyte)}\r\n`);
    let sent = 0;
    // The last chunk never comes: who waits for the end of the body waits for ever.
    while (response.length === 0 && sent < 400) {
      await new Promise((resolve) => {
        socket.write(chunk, resolve);
      });
      sent += 1;
      if (sent > 64) await delay(5);
    }
    expect(response.join('')).toMatch(/^HTTP\/1\.1 413 .*request body too large/s);
    expect(sent).toBeGreaterThan(64);
    // Some kernels hold tens of megabytes on the way.
    expect(sent).toBeLessThan(200);
    expect(gateway.exchanges).toEqual([]);
    socket.destroy();
  });

  it('stops decompressing a bomb at the limit', async () => {
    const gateway = await startGateway();
    const body = gzipSync(Buffer.alloc(65 * mebibyte));
    const headers = { ...json, 'content-encoding': 'gzip' };
    const response = await call(gateway.port, endpoint, { headers, body });
    expect(response.status).toBe(413);
    expect(messageOf(response)).toBe('request body too large');
    expect(gateway.exchanges).toEqual([]);
  });
});

describe('early responses', () => {
  it.each([
    ['too much', key, '413'],
    ['a wrong key', 'sk-unknown', '401'],
  ])('%s is reported before the body arrives', async (_name, secret, status) => {
    const gateway = await startGateway();
    const socket = open(gateway.port);
    socket.write(
      `POST ${path} HTTP/1.1\r\nhost: x\r\nx-api-key: ${secret}\r\ncontent-length: ${65 * mebibyte}\r\n\r\n`,
    );
    const response = await new Promise<string>((resolve) => {
      socket.once('data', (chunk) => resolve(chunk.toString()));
    });
    expect(response).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(response).toContain('connection: close\r\n');
    socket.destroy();
  });

  it('reach a client that sends everything before it reads', async () => {
    const gateway = await startGateway();
    const socket = open(gateway.port);
    const errors: unknown[] = [];
    socket.on('error', (error) => errors.push(error));
    socket.pause();
    socket.write(
      `POST ${path} HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\ncontent-length: ${65 * mebibyte}\r\n\r\n`,
    );
    for (let sent = 0; sent < 65; sent += 5) {
      await new Promise((resolve) => {
        socket.write(Buffer.alloc(5 * mebibyte, 32), resolve);
      });
      await delay(5);
    }
    let response = '';
    socket.on('data', (chunk) => {
      response += chunk.toString();
    });
    socket.on('end', () => socket.end());
    socket.resume();
    await new Promise((resolve) => {
      socket.on('close', resolve);
    });
    expect(errors).toEqual([]);
    expect(response).toContain('request body too large');
  });

  it('keep the connection if little is left to read', async () => {
    const gateway = await startGateway();
    const post = (secret: string, extra = ''): string =>
      `POST ${path} HTTP/1.1\r\nhost: x\r\nx-api-key: ${secret}\r\ncontent-length: 7\r\n${extra}\r\n{"a":1}`;
    const response = await raw(
      gateway.port,
      post('sk-unknown') + post(key, 'connection: close\r\n'),
    );
    expect(response.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 401', 'HTTP/1.1 200']);
  });

  it('are not sent to a client that disconnects while it sends', async () => {
    const gateway = await startGateway();
    for (const encoding of ['identity', 'gzip']) {
      const socket = open(gateway.port);
      socket.on('error', () => {});
      socket.write(
        `POST ${path} HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\ncontent-length: 500\r\n` +
          `content-encoding: ${encoding}\r\n\r\n`,
      );
      socket.write(gzipSync('{"a":1}').subarray(0, 15));
      await delay(30);
      socket.resetAndDestroy();
    }
    await delay(30);
    expect(gateway.exchanges).toEqual([]);
    expect(gateway.unexpected).toEqual([]);
    expect((await call(gateway.port, '/health')).status).toBe(200);
  });
});

describe('chunks', () => {
  const text = JSON.stringify({ text: 'x'.repeat(20_000) });
  const sent = (body: Buffer, size: number, encoding = ''): Buffer => {
    const head = `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n${encoding}transfer-encoding: chunked\r\nconnection: close\r\n\r\n`;
    const chunks: (string | Buffer)[] = [head];
    for (let at = 0; at < body.length; at += size) {
      const chunk = body.subarray(at, at + size);
      chunks.push(`${chunk.length.toString(16)}\r\n`, chunk, '\r\n');
    }
    return Buffer.concat([...chunks, '0\r\n\r\n'].map((each) => Buffer.from(each)));
  };

  it.each([20_100, 100, 16])('of %i bytes are read', async (size) => {
    const gateway = await startGateway();
    const response = await raw(gateway.port, sent(Buffer.from(text), size));
    expect(response).toMatch(/^HTTP\/1\.1 200 /);
    expect(gateway.exchanges[0]?.body.toString()).toBe(text);
  });

  it('of one byte are refused if there are many', async () => {
    const gateway = await startGateway();
    const few = await raw(gateway.port, sent(Buffer.from('{"a":1}'), 1));
    expect(few).toMatch(/^HTTP\/1\.1 200 /);
    const many = await raw(gateway.port, sent(Buffer.from(text), 1));
    expect(many).toMatch(/^HTTP\/1\.1 400 [^]*too complex/);
    const packed = gzipSync(text, { level: 0 });
    const encoded = await raw(gateway.port, sent(packed, 1, 'content-encoding: gzip\r\n'));
    expect(encoded).toMatch(/^HTTP\/1\.1 400 [^]*too complex/);
    expect(gateway.exchanges).toHaveLength(1);
  });
});
