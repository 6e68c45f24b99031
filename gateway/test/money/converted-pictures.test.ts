import { createServer } from 'node:https';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createImage } from 'simulator';
import { buildConnector } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { attemptsOf, rowOf } from '../behaviour/support.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { startOwnUpstream, type OwnUpstream } from '../support/own-upstream.ts';

/* What pictures cost that come by way of another protocol, and by address. */

const pem = (name: string) =>
  readFileSync(new URL(`../http/fixtures/localhost-${name}.pem`, import.meta.url));
const image = createImage({ type: 'png', width: 1500, height: 1741 });
const base64 = image.toString('base64');

const host = createServer({ cert: pem('cert'), key: pem('key') }, ({ url = '' }, response) => {
  const isThere = url === '/a.png';
  response.writeHead(isThere ? 200 : 404, { 'content-type': 'image/png' });
  response.end(isThere ? image : undefined);
});
const dial = buildConnector({ rejectUnauthorized: false, allowH2: false });

let upstream: OwnUpstream;
let gateway: TestGateway;
beforeAll(async () => {
  await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve));
  upstream = await startOwnUpstream();
  const tiers =
    '[{ name: 1K, max_pixels: 2610000, price: 0.04 }, { name: 2K, max_pixels: 6000000, price: 0.08 }]';
  gateway = await startTestGateway({
    config: `
channels:
  - { name: gemini, provider: gemini, base_url: "${upstream.url}", api_key: k, models: [by-tokens] }
  - { name: addresses, provider: openai-compatible, base_url: "${upstream.url}", protocols: [images], models: [by-size] }
models:
  - { id: by-tokens, type: image, price: { input: 2, output: 12, output_image: 120 } }
  - { id: by-size, type: image, price: { image_tiers: ${tiers} } }
`,
    mediaFetch: {
      resolve: async (name) => (name === 'inside.example' ? ['10.0.0.1'] : ['93.184.216.34']),
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

function answer(body: unknown): void {
  upstream.clear();
  upstream.answer = (_, response) =>
    void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

async function send(path: string, body: unknown) {
  const response = await gateway.post(path, body);
  const text = await response.text();
  const row = await rowOf(gateway, response.headers.get('x-request-id') ?? '');
  return { status: response.status, text, row };
}

const messages = [{ role: 'user', content: 'A cat' }];
const contents = [{ role: 'user', parts: [{ text: 'A cat' }] }];
const ways = [
  ['a chat', '/v1/chat/completions', { model: 'by-tokens', messages }],
  ['images', '/v1/images/generations', { model: 'by-tokens', prompt: 'A cat' }],
  ['generate-content', '/v1beta/models/by-tokens:generateContent', { contents }],
] as const;

const drawn = { content: { parts: [{ inlineData: { mimeType: 'image/png', data: base64 } }] } };
const usageMetadata = {
  promptTokenCount: 326,
  candidatesTokenCount: 2340,
  thoughtsTokenCount: 337,
  totalTokenCount: 3003,
  candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 2000 }],
};

describe.each(ways)('tokens of generate-content for %s', (_, path, body) => {
  test('are charged by their parts, the thoughts as output', async () => {
    answer({ candidates: [drawn], usageMetadata });
    const { status, row } = await send(path, body);
    expect(status).toBe(200);
    expect(upstream.asked[0]?.path).toBe('/v1beta/models/by-tokens:generateContent');
    expect(upstream.asked[0]?.headers['x-goog-api-key']).toBe('k');
    expect(row).toMatchObject({
      cost: '0.248776',
      tokens: { input: 326, output: 2677, reasoning: 337 },
      units: { images: 1, output_image_tokens: 2000 },
    });
  });

  test('are not charged where none are reported', async () => {
    answer({ candidates: [drawn] });
    const { status, row } = await send(path, body);
    expect(status).toBe(502);
    expect(row).toMatchObject({ outcome: 'failed', cost: null });
  });
});

describe('an address in place of a picture', () => {
  const chat = { model: 'by-size', messages };

  test('is fetched, and paid by the size of what is there', async () => {
    answer({ created: 1, data: [{ url: 'https://pictures.example/a.png' }] });
    const { status, text, row } = await send('/v1/chat/completions', chat);
    expect(status).toBe(200);
    expect(text).toContain(`![image](data:image/png;base64,${base64})`);
    expect(row).toMatchObject({ cost: '0.08', units: { images: 1 } });
  });

  test.each([
    'https://pictures.example/gone.png',
    'http://pictures.example/a.png',
    'https://inside.example/a.png',
    'https://127.0.0.1/a.png',
    'file:///etc/passwd',
  ])('%s is not to be had: nothing is paid', async (url) => {
    answer({ created: 1, data: [{ url }, { b64_json: base64 }] });
    const { status, row } = await send('/v1/chat/completions', chat);
    expect(status).toBe(502);
    expect(upstream.asked).toHaveLength(1);
    expect(row).toMatchObject({ outcome: 'failed', cost: null });
    expect(attemptsOf(row)).toHaveLength(1);
  });

  test('is not fetched for a client of images', async () => {
    const url = 'https://inside.example/a.png';
    answer({ created: 1, size: '1024x1024', data: [{ url }] });
    const { status, text } = await send('/v1/images/generations', {
      model: 'by-size',
      prompt: 'a',
    });
    expect([status, text]).toEqual([200, expect.stringContaining(url)]);
  });
});
