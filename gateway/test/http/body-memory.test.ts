import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { createBodyMemory } from '#bodies/index.ts';
import type { RelayInput } from '#relay/index.ts';
import {
  call,
  caller,
  delay,
  key,
  open,
  startGateway,
  type Gateway,
  type GatewaySettings,
} from './support.ts';

const mebibyte = 2 ** 20;
const path = '/v1/chat/completions';
const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
const body = Buffer.alloc(mebibyte, 32);

const head = (more: string, secret = key): string =>
  `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${secret}\r\ncontent-type: application/json\r\n${more}\r\n\r\n`;

const memoryOf = (limit: number) => createBodyMemory({ limit, monotonic: () => performance.now() });

/** A connection and what it has received so far. */
function send(gateway: Gateway, ...bytes: (string | Buffer)[]) {
  const socket = open(gateway.port);
  let text = '';
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
  });
  socket.on('error', () => {});
  for (const each of bytes) socket.write(each);
  return { socket, text: () => text };
}

async function until(holds: () => boolean, milliseconds = 10_000): Promise<void> {
  const end = performance.now() + milliseconds;
  while (!holds() && performance.now() < end) await delay(10);
  expect(holds()).toBe(true);
}

/** Answers when the test says so; each request's memory counts until then. */
async function startHolding(settings: GatewaySettings) {
  const held: RelayInput[] = [];
  const ends: (() => void)[] = [];
  const gateway = await startGateway({
    ...settings,
    run: (input) =>
      new Promise((resolve) => {
        held.push(input);
        ends.push(() => {
          if (input.client.headSent) return;
          input.client.start(200, { 'content-type': 'application/json' });
          input.client.end('{}');
          resolve();
        });
      }),
  });
  return { gateway, held, ends };
}

describe('more bodies than memory', () => {
  it('are refused with 503 before anything is read, and the memory is released once', async () => {
    const memory = memoryOf(8 * mebibyte);
    const { gateway, ends } = await startHolding({ memory });
    // 3 MiB each, and 6 of the 8 MiB are shared.
    const first = [
      call(gateway.port, path, { headers, body }),
      call(gateway.port, path, { headers, body }),
    ];
    await until(() => ends.length === 2);
    expect(memory.usedBytes).toBe(6 * mebibyte);
    const third = send(gateway, head(`content-length: ${mebibyte}`));
    await until(() => third.text().startsWith('HTTP/1.1 503'));
    expect(third.text()).toMatch(/retry-after: 1\r\n/i);
    expect(third.text()).toContain('temporarily unavailable');
    third.socket.destroy();
    expect([memory.refused, memory.usedBytes]).toEqual([1, 6 * mebibyte]);
    for (const end of ends) end();
    expect((await Promise.all(first)).map(({ status }) => status)).toEqual([200, 200]);
    await until(() => memory.usedBytes === 0);
  });

  it('wait for a moment, and are read when another one ends', async () => {
    const memory = memoryOf(8 * mebibyte);
    const { gateway, ends } = await startHolding({ memory });
    const large = Buffer.alloc(2 * mebibyte, 32);
    const first = call(gateway.port, path, { headers, body: large });
    await until(() => ends.length === 1);
    const second = call(gateway.port, path, { headers, body: large });
    await until(() => memory.waiting === 1);
    ends[0]?.();
    await until(() => ends.length === 2);
    ends[1]?.();
    expect([(await first).status, (await second).status]).toEqual([200, 200]);
  });

  it('without a declared length are refused where the memory ends, and read if there is enough', async () => {
    const memory = memoryOf(8 * mebibyte);
    const { gateway, ends } = await startHolding({ memory });
    const first = call(gateway.port, path, { headers, body: Buffer.alloc(1.5 * mebibyte, 32) });
    await until(() => ends.length === 1);
    const chunked = { ...headers, 'transfer-encoding': 'chunked' };
    const ask = () =>
      call(gateway.port, path, { headers: chunked, body: Buffer.alloc(3 * mebibyte, 32) });
    const refused = await ask();
    expect([refused.status, refused.headers['retry-after'], memory.refused]).toEqual([503, '1', 1]);
    expect(memory.usedBytes).toBe(4.5 * mebibyte);
    ends[0]?.();
    expect((await first).status).toBe(200);
    const second = ask();
    await until(() => ends.length === 2);
    expect(memory.usedBytes).toBe(9 * mebibyte);
    ends[1]?.();
    expect((await second).status).toBe(200);
    await until(() => memory.usedBytes === 0);
  });

  it('that grow at once do not wait for one another', async () => {
    // For a clock that stands still no wait is ever too long: whoever waited for another would wait for ever.
    const memory = createBodyMemory({ limit: 8 * mebibyte, monotonic: () => 0 });
    const gateway = await startGateway({ memory });
    const chunked = { ...headers, 'transfer-encoding': 'chunked' };
    const all = Array.from({ length: 8 }, () =>
      call(gateway.port, path, { headers: chunked, body: Buffer.alloc(2 * mebibyte, 32) }),
    );
    const statuses = (await Promise.all(all)).map(({ status }) => status);
    expect(statuses).toContain(200);
    expect(statuses.every((status) => status === 200 || status === 503)).toBe(true);
    await until(() => memory.usedBytes === 0);
  });

  it('of thirty unfinished requests, each a little gzip, hold no more than there is', async () => {
    const memory = memoryOf(8 * mebibyte);
    const gateway = await startGateway({ memory });
    const zipped = gzipSync(Buffer.concat([Buffer.alloc(900_000, 'a'), Buffer.alloc(60_000, 'b')]));
    const clients = Array.from({ length: 30 }, () =>
      send(gateway, head(`content-length: ${zipped.length + 1}\r\ncontent-encoding: gzip`), zipped),
    );
    await delay(500);
    expect(memory.usedBytes).toBeLessThanOrEqual(8 * mebibyte);
    expect(memory.waiting + memory.refused).toBeGreaterThan(15);
    for (const { socket } of clients) socket.destroy();
    await until(() => memory.usedBytes === 0 && memory.waiting === 0);
  });

  it('within the body limit are read alone, however large', async () => {
    const memory = memoryOf(mebibyte);
    const gateway = await startGateway({ memory });
    for (const more of [{}, { 'transfer-encoding': 'chunked' }]) {
      const response = await call(gateway.port, path, {
        headers: { ...headers, ...more },
        body: Buffer.alloc(20 * mebibyte, 32),
      });
      expect(response.status).toBe(200);
    }
    await until(() => memory.usedBytes === 0);
  });

  it('release their memory when the client disconnects, read, half read and waiting', async () => {
    const memory = memoryOf(8 * mebibyte);
    const { gateway, ends } = await startHolding({ memory });
    const declared = head(`content-length: ${1.5 * mebibyte}`);
    const half = send(gateway, declared, body);
    await until(() => memory.usedBytes > 4 * mebibyte);
    const waiting = send(gateway, declared);
    await until(() => memory.waiting === 1);
    waiting.socket.resetAndDestroy();
    await until(() => memory.waiting === 0);
    half.socket.resetAndDestroy();
    await until(() => memory.usedBytes === 0);
    const whole = send(gateway, declared, Buffer.alloc(1.5 * mebibyte, 32));
    await until(() => ends.length === 1);
    whole.socket.resetAndDestroy();
    await delay(50);
    // The exchange continues, and keeps what it holds.
    expect(memory.usedBytes).toBeGreaterThan(4 * mebibyte);
    ends[0]?.();
    await until(() => memory.usedBytes === 0);
  });

  it('of a key without money come one large body at a time', async () => {
    const memory = memoryOf(256 * mebibyte);
    const asked: string[] = [];
    const { gateway, ends } = await startHolding({
      memory,
      hasMoney: async ({ keyId }) => {
        asked.push(keyId);
        return false;
      },
    });
    const large = Buffer.alloc(2 * mebibyte, 32);
    const both = [0, 1].map(() => call(gateway.port, path, { headers, body: large }));
    await until(() => memory.waiting === 1 && ends.length === 1);
    const small = call(gateway.port, path, { headers, body: Buffer.alloc(1_000, 32) });
    await until(() => ends.length === 2);
    expect(asked).toEqual(['key-1', 'key-1']);
    ends[0]?.();
    await until(() => ends.length === 3);
    for (const end of ends) end();
    const responses = await Promise.all([...both, small]);
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200]);
  });
});

describe('a body compressed a thousand times', () => {
  it.each([path, '/v1/responses', '/v1/messages', '/v1beta/models/m:generateContent'])(
    '%s: is refused long before it is decoded',
    async (endpoint) => {
      const memory = memoryOf(256 * mebibyte);
      const gateway = await startGateway({ memory });
      const bomb = gzipSync(Buffer.alloc(60 * mebibyte));
      const all = Array.from({ length: 40 }, () =>
        call(gateway.port, endpoint, {
          headers: { ...headers, 'content-encoding': 'gzip' },
          body: bomb,
        }),
      );
      const responses = await Promise.all(all);
      expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([413]));
      expect(gateway.exchanges).toEqual([]);
      await until(() => memory.usedBytes === 0);
    },
  );

  it('is read up to a megabyte, and up to a ratio of a hundred', async () => {
    const gateway = await startGateway();
    const zip = (bytes: Buffer) =>
      call(gateway.port, path, {
        headers: { ...headers, 'content-encoding': 'gzip' },
        body: gzipSync(bytes),
      });
    expect((await zip(Buffer.alloc(mebibyte - 1))).status).toBe(200);
    const noise = Buffer.alloc(3 * mebibyte);
    let seed = 1;
    for (let at = 0; at < noise.length; at += 80) {
      seed = (seed * 48_271) % 0x7fffffff;
      noise[at] = seed;
    }
    const ratio = noise.length / gzipSync(noise).length;
    expect([ratio > 25, ratio < 100]).toEqual([true, true]);
    expect((await zip(noise)).status).toBe(200);
  });
});

describe.each([
  [path, 'invalid_request_error'],
  ['/v1/responses', 'invalid_request_error'],
  ['/v1/messages', 'invalid_request_error'],
  ['/v1beta/models/m:generateContent', 'DEADLINE_EXCEEDED'],
])('%s', (endpoint, type) => {
  const slowestPace = { bytes: 600, windowMs: 300 };

  it('a trickling body is refused with 408 in the protocol’s shape, and its connection closed', async () => {
    const memory = memoryOf(256 * mebibyte);
    const gateway = await startGateway({ memory, server: { slowestPace } });
    const { socket, text } = send(gateway, head('content-length: 100000').replace(path, endpoint));
    while (text() === '' && !socket.destroyed) {
      socket.write(' ');
      await delay(20);
    }
    expect(text()).toMatch(/^HTTP\/1\.1 408 /);
    expect(text()).toMatch(/connection: close/i);
    expect(text()).toContain(type);
    expect(text()).toContain('the body arrived too slowly');
    expect(memory.usedBytes).toBe(0);
    socket.destroy();
    expect(gateway.exchanges).toEqual([]);
  });

  it('a slow body above the limit passes', async () => {
    const gateway = await startGateway({ server: { slowestPace } });
    const { socket, text } = send(gateway, head('content-length: 8000').replace(path, endpoint));
    for (let sent = 0; sent < 8_000; sent += 200) {
      socket.write(' '.repeat(200));
      await delay(30);
    }
    await until(() => text() !== '');
    expect(text()).toMatch(/^HTTP\/1\.1 200 /);
    socket.destroy();
  });
});

it('a body that waits for memory is not slow', async () => {
  const memory = memoryOf(8 * mebibyte);
  const { gateway, ends } = await startHolding({
    memory,
    server: { slowestPace: { bytes: 600, windowMs: 300 } },
  });
  const large = Buffer.alloc(2 * mebibyte, 32);
  const first = call(gateway.port, path, { headers, body: large });
  await until(() => ends.length === 1);
  const second = call(gateway.port, path, { headers, body: large });
  await until(() => memory.waiting === 1);
  await delay(1_000);
  ends[0]?.();
  await until(() => ends.length === 2);
  ends[1]?.();
  expect([(await first).status, (await second).status]).toEqual([200, 200]);
});

describe('requests of one key at the same time', () => {
  it('are limited, so that another key finds a slot', async () => {
    const other = 'sk-other-0123456789';
    const { gateway, ends } = await startHolding({
      keyConcurrency: 2,
      find: (secret) => ({ ...caller, keyId: secret }),
    });
    const running = [0, 1].map(() => call(gateway.port, path, { headers, body: '{}' }));
    await until(() => ends.length === 2);
    const third = await call(gateway.port, path, { headers, body: '{}' });
    expect([third.status, third.headers['retry-after']]).toEqual([429, '1']);
    expect(third.text).toContain('rate limit exceeded');
    running.push(
      call(gateway.port, path, {
        headers: { ...headers, authorization: `Bearer ${other}` },
        body: '{}',
      }),
    );
    await until(() => ends.length === 3);
    for (const end of ends) end();
    expect((await Promise.all(running)).map(({ status }) => status)).toEqual([200, 200, 200]);
    // Each gave its place back.
    const again = [0, 1].map(() => call(gateway.port, path, { headers, body: '{}' }));
    await until(() => ends.length === 5);
    for (const end of ends.slice(3)) end();
    expect((await Promise.all(again)).map(({ status }) => status)).toEqual([200, 200]);
  });

  it('can be more with a larger max_concurrency of the key, and fewer with a smaller one', async () => {
    for (const [maxConcurrency, admitted] of [
      [5, 5],
      [1, 1],
    ] as const) {
      const { gateway, ends } = await startHolding({
        keyConcurrency: 2,
        caller: { maxConcurrency },
      });
      let refused = 0;
      const all = Array.from({ length: 6 }, async () => {
        const response = await call(gateway.port, path, { headers, body: '{}' });
        if (response.status === 429) refused += 1;
        return response;
      });
      await until(() => ends.length + refused === 6);
      for (const end of ends) end();
      const statuses = (await Promise.all(all)).map(({ status }) => status);
      expect(statuses.filter((status) => status === 200)).toHaveLength(admitted);
      expect(statuses.filter((status) => status === 429)).toHaveLength(6 - admitted);
    }
  });
});

describe('under pressure', () => {
  const large = 256 * 1024;
  it.each([
    ['large', `content-length: ${large}`],
    ['of unknown length', 'transfer-encoding: chunked'],
    ['compressed', 'content-length: 100\r\ncontent-encoding: gzip'],
  ])('a body that is %s is refused before it is read', async (_what, more) => {
    const gateway = await startGateway({ pressure: (isLarge) => (isLarge ? 'lag' : null) });
    const { socket, text } = send(gateway, head(more));
    await until(() => text() !== '');
    expect(text()).toMatch(/^HTTP\/1\.1 503 [^]*\r\nretry-after: 1\r\n/i);
    socket.destroy();
  });

  it.each([
    ['a smaller one', {}],
    ['one that says it is not compressed', { 'content-encoding': 'identity' }],
  ])('%s passes', async (_what, more) => {
    const gateway = await startGateway({ pressure: (isLarge) => (isLarge ? 'lag' : null) });
    const body = Buffer.alloc(large - 1, 32);
    const response = await call(gateway.port, path, { headers: { ...headers, ...more }, body });
    expect(response.status).toBe(200);
  });
});
