import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createImage } from 'simulator';
import { buildConnector } from 'undici';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestGateway, testKey, type TestGateway } from '../support/gateway.ts';
import {
  answerWith,
  startOwnUpstream,
  usageAt,
  type OwnUpstream,
} from '../support/own-upstream.ts';
import { rawPost, sendRaw, until } from './support.ts';

/* Pictures that a client names by address, for upstreams that take only bytes. */

const mebibyte = 2 ** 20;
const otherKey = 'sk-other-0123456789abcdefghijklmnopqrstuv';
const pem = (name: string) =>
  readFileSync(new URL(`../http/fixtures/localhost-${name}.pem`, import.meta.url));
const image = createImage({ type: 'png', width: 64, height: 64 });
/** More than is converted in the main thread. */
const large = Buffer.concat([image, Buffer.alloc(mebibyte)]);

/** Requests for `/held?10`, which has announced 10 MiB, and for `/silent`, which has said nothing. */
const held: ServerResponse[] = [];
const silent = new Set<ServerResponse>();
const asked: string[] = [];
const host = createServer({ cert: pem('cert'), key: pem('key') }, ({ url = '' }, response) => {
  asked.push(url);
  if (url.startsWith('/silent')) {
    silent.add(response);
    response.on('close', () => silent.delete(response));
    return;
  }
  const body = url === '/large' ? large : image;
  const isHeld = url.startsWith('/held');
  const length = isHeld ? Number(url.split('?')[1]) * mebibyte : body.length;
  response.writeHead(200, { 'content-type': 'image/png', 'content-length': length });
  if (!isHeld) response.end(body);
  else {
    response.flushHeaders();
    held.push(response);
  }
});
const dial = buildConnector({ rejectUnauthorized: false, allowH2: false });

let upstream: OwnUpstream;
let gateway: TestGateway;
beforeAll(async () => {
  await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve));
  upstream = await startOwnUpstream();
  const at = `base_url: "${upstream.url}", api_key: k`;
  gateway = await startTestGateway({
    config: `
limits: { body_memory: 96MiB }
channels:
  - { name: one, provider: gemini, ${at}, priority: 1, models: [bytes, twice] }
  - { name: two, provider: gemini, ${at}, models: [twice] }
  - { name: draws, provider: gemini, ${at}, models: [draws] }
models:
  - { id: bytes, type: chat, price: { input: 1, output: 1 }, capabilities: [vision] }
  - { id: twice, type: chat, price: { input: 1, output: 1 }, capabilities: [vision] }
  - { id: draws, type: image, price: { input: 2, output: 12, output_image: 120 }, capabilities: [edits] }
users: [{ email: tester@example.com, balance: 100 }, { email: other@example.com, balance: 100 }]
keys:
  - { name: test, user: tester@example.com, secret: ${testKey} }
  - { name: other, user: other@example.com, secret: ${otherKey} }
`,
    mediaFetch: {
      resolve: async () => ['93.184.216.34'],
      connect: (target, callback) => {
        const port = String((host.address() as AddressInfo).port);
        dial({ ...target, hostname: '127.0.0.1', port }, callback);
      },
    },
  });
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
  host.closeAllConnections();
  host.close();
});

const start = () => {
  upstream.clear();
  asked.length = 0;
  upstream.answer = (request, response) =>
    answerWith(usageAt(request.path, 3, 9))(request, response);
};

interface Asking {
  readonly bytes?: number;
  readonly model?: string;
  readonly key?: string;
}

/** A chat that names these pictures, with a text of this length in bytes. */
function bodyOf(paths: readonly string[], { bytes = 0, model = 'bytes' }: Asking = {}) {
  const content = [
    { type: 'text', text: 'words '.repeat(1 + bytes / 6) },
    ...paths.map((path) => ({
      type: 'image_url',
      image_url: { url: `https://pictures.example${path}` },
    })),
  ];
  return { model, messages: [{ role: 'user', content }] };
}

function chat(paths: readonly string[], asking: Asking = {}): Promise<Response> {
  const authorization = `Bearer ${asking.key ?? testKey}`;
  return gateway.post('/v1/chat/completions', bodyOf(paths, asking), { authorization });
}

async function memory(): Promise<number> {
  const text = await (await fetch(`${gateway.url}/metrics`)).text();
  return Number(/^sluice_body_memory_bytes (\d+)/m.exec(text)?.[1]);
}

const inlined = (body: string): number => body.split('"inlineData"').length - 1;

test.each([
  ['a small body', 0, '/a'],
  ['a large body', 300_000, '/a'],
  ['a small body with large pictures', 0, '/large'],
])('five pictures in %s', async (_name, bytes, path) => {
  start();
  const response = await chat(
    Array.from({ length: 5 }, (_, at) => (path === '/large' ? path : `${path}?${at}`)),
    { bytes },
  );
  expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
  expect(upstream.asked).toHaveLength(1);
  expect(inlined(JSON.stringify(upstream.asked[0]?.body))).toBe(5);
  expect(asked).toHaveLength(path === '/large' ? 1 : 5);
  await until(async () => (await memory()) === 0, 'all is given back');
});

test('a picture is fetched once, whichever channel gets it', async () => {
  start();
  const answer = upstream.answer;
  upstream.answer = (request, response) => {
    if (upstream.asked.length === 1) response.writeHead(500).end();
    else answer(request, response);
  };
  expect((await chat(['/large'], { model: 'twice' })).status).toBe(200);
  const [first, second] = upstream.asked;
  expect(second?.body).toEqual(first?.body);
  expect(inlined(JSON.stringify(second?.body))).toBe(1);
  expect(asked).toEqual(['/large']);
});

test('large chats of another key are served while hosts of pictures are silent', async () => {
  start();
  const waiting = await Promise.all(
    Array.from({ length: 3 }, (_, at) => {
      const body = bodyOf([`/silent?${at}`], { bytes: 300_000 });
      return sendRaw(gateway.url, rawPost('/v1/chat/completions', body));
    }),
  );
  await until(() => silent.size === 3, 'the hosts are asked');
  const other = await chat([], { bytes: 300_000, key: otherKey });
  expect([other.status, waiting.map(({ received }) => received())]).toEqual([200, ['', '', '']]);
  // What nobody waits for is not fetched any longer.
  for (const { socket } of waiting) socket.resetAndDestroy();
  await until(() => silent.size === 0, 'the fetching ends');
  await until(async () => (await memory()) === 0, 'all is given back');
});

test.each([
  ['bytes', 10],
  // The response reserves room, too.
  ['draws', 6],
])('a picture without room in memory is not read (a model that %s)', async (model, size) => {
  start();
  held.length = 0;
  const first = chat([`/held?${size}`], { model });
  await until(() => held.length === 1, 'the first one comes');
  await until(async () => (await memory()) >= 4 * size * mebibyte, 'its room is taken');
  const second = await chat([`/held?${size}`], { model, key: otherKey });
  expect([second.status, second.headers.get('retry-after')]).toEqual([503, '1']);
  await second.text();
  expect(held).toHaveLength(2);
  held[0]?.end(Buffer.alloc(size * mebibyte));
  await (await first).text();
  expect(upstream.asked).toHaveLength(1);
  await until(async () => (await memory()) === 0, 'all is given back');
});

test('a fetch that keeps another key waiting for its room gives way', async () => {
  start();
  held.length = 0;
  const first = chat(['/held?10']);
  await until(() => held.length === 1, 'the first one comes');
  await until(async () => (await memory()) >= 40 * mebibyte, 'its room is taken');
  const other = await chat([], { bytes: 12 * mebibyte, key: otherKey });
  expect(other.status).toBe(200);
  const refused = await first;
  expect(refused.status).toBe(503);
  await refused.text();
  await until(async () => (await memory()) === 0, 'all is given back');
});
