import { createHash } from 'node:crypto';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { testKey } from '../support/gateway.ts';
import { openGateway, until } from './support.ts';

/*
 * Responses with pictures are stored until their row is durable: in memory while there is room, then in files. Both ways
 * the client gets the upstream's bytes.
 */

const image = Buffer.alloc(9_000_000, 'a picture of megabytes').toString('base64');
const response = JSON.stringify({
  created: 1,
  model: 'theirs',
  data: [{ b64_json: image, size: '1024x1024' }],
});

let upstream: Server;
let url: string;
beforeAll(async () => {
  upstream = createServer((request, reply) => {
    request.resume();
    request.on('end', () => {
      reply.writeHead(200, { 'content-type': 'application/json' });
      reply.end(response);
    });
  });
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/v1`;
});
afterAll(() => upstream.close());

const open = (limits: string) =>
  openGateway({
    config: `
limits: ${limits}
channels:
  - { name: up, provider: openai-compatible, base_url: "${url}", api_key: x, protocols: [images], models: [{ name: mine, upstream: theirs }] }
models:
  - { id: mine, type: image, price: { image_tiers: [{ name: 1K, max_pixels: 2000000, price: 0.04 }] } }
users: [{ email: tester@example.com, balance: 100 }]
keys: [{ name: test, user: tester@example.com, secret: ${testKey} }]
`,
  });

const body = JSON.stringify({ model: 'mine', prompt: 'a house' });
const ask = (gateway: { url: string }, signal?: AbortSignal) =>
  fetch(`${gateway.url}/v1/images/generations`, {
    method: 'POST',
    headers: { authorization: `Bearer ${testKey}`, 'content-type': 'application/json' },
    body,
    signal: signal ?? null,
  });
async function statusOf(gateway: { url: string }): Promise<number> {
  const { status, body: unread } = await ask(gateway);
  await unread?.cancel();
  return status;
}
const digest = (text: string) => createHash('sha256').update(text).digest('hex');
const expected = digest(response.replace('"theirs"', '"mine"'));

test.each([
  ['in memory', '{ body_memory: 1GiB }'],
  // A quarter of it is less than one response.
  ['in a file', '{ body_memory: 8MiB }'],
])('a response that is stored %s arrives unchanged', async (_, limits) => {
  const gateway = await open(limits);
  const responses = await Promise.all(Array.from({ length: 6 }, () => ask(gateway)));
  for (const each of responses) {
    expect(each.status).toBe(200);
    const text = await each.text();
    expect(text).toHaveLength(response.length - 2);
    expect(digest(text)).toBe(expected);
  }
  const rows = await gateway.usage();
  expect(rows.map(({ cost, units }) => [cost, units])).toEqual(
    Array.from({ length: 6 }, () => ['0.04', { images: 1 }]),
  );
  expect(readdirSync(path.join(gateway.app.dataDir, 'spool'))).toEqual([]);
});

test('a client that leaves while it is written to is charged once, and its place is free', async () => {
  const gateway = await open('{ body_memory: 8MiB, spool: 16MiB }');
  const leaving = new AbortController();
  const reply = await ask(gateway, leaving.signal);
  await reply.body!.getReader().read();
  // The room is taken until the response has been written.
  expect(await statusOf(gateway)).toBe(503);
  leaving.abort();
  await until(async () => (await statusOf(gateway)) === 200, 'room for another one');
  const rows = await gateway.usage();
  expect(rows.filter(({ outcome }) => outcome === 'completed').map(({ cost }) => cost)).toEqual([
    '0.04',
    '0.04',
  ]);
});

test('a folder that cannot be written refuses pictures before they are made, until it can be', async () => {
  const gateway = await open('{ body_memory: 8MiB }');
  const folder = path.join(gateway.app.dataDir, 'spool');
  const degraded = async () =>
    ((await (await fetch(`${gateway.url}/ready`)).json()) as { degraded: string[] }).degraded;
  expect(await statusOf(gateway)).toBe(200);
  rmSync(folder, { recursive: true });
  writeFileSync(folder, 'not a folder');
  await until(async () => (await statusOf(gateway)) === 503, 'the refusal');
  const lost = (await gateway.usage()).filter(({ status }) => status === 502).length;
  expect(lost).toBeLessThan(2);
  expect(await degraded()).toEqual(['spool']);
  rmSync(folder);
  await until(async () => (await statusOf(gateway)) === 200, 'the folder made again');
  expect(await degraded()).toEqual([]);
});
