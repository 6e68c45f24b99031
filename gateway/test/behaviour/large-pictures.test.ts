import type { ServerResponse } from 'node:http';
import { createImage } from 'simulator';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startFarSide, type FarSide } from '../support/far-side.ts';
import { startTestGateway, testKey, type TestGateway } from '../support/gateway.ts';
import { longestTurn } from '../support/longest-turn.ts';
import { startOwnUpstream } from '../support/own-upstream.ts';
import { rowOf } from './support.ts';

/* Converted pictures of megabytes, both ways: nobody else waits for them. */

const mebibyte = 2 ** 20;
/** Milliseconds of CPU time; 50 are meant, and machines differ. */
const longest = 250;
const json = { 'content-type': 'application/json' };
const png = createImage({ type: 'png', width: 512, height: 512 });
const square = png.toString('base64').replaceAll('=', '');

let far: FarSide;
let gateway: TestGateway;

beforeAll(async () => {
  far = await startFarSide();
  const tiers = 'image_tiers: [{ name: 1K, max_pixels: 2000000, price: 0.04 }]';
  const named = (protocol: string) =>
    `- { name: ${protocol}, provider: simulator, base_url: "${far.url}", protocols: [${protocol}], models: [${protocol}, { name: ${protocol}-mapped, upstream: theirs }] }`;
  const model = (id: string) =>
    `- { id: ${id}, type: image, capabilities: [edits, streaming], price: { ${tiers} } }`;
  gateway = await startTestGateway({
    config: `
channels:
  ${['images', 'generate-content'].map(named).join('\n  ')}
models:
  ${['images', 'images-mapped', 'generate-content', 'generate-content-mapped'].map(model).join('\n  ')}
`,
  });
});
afterAll(async () => {
  await gateway.close();
  await far.close();
});

const ofImages = (bytes: number): Buffer =>
  Buffer.from(`{"created":1,"data":[{"b64_json":"${square}${'A'.repeat(bytes)}"}]}`);

const ofContents = (bytes: number): Buffer =>
  Buffer.from(
    `{"candidates":[{"content":{"parts":[{"inlineData":{"mimeType":"image/png","data":"${square}${'A'.repeat(bytes)}"}}]},"finishReason":"STOP"}],"modelVersion":"theirs"}`,
  );

const chat = { messages: [{ role: 'user', content: 'a' }] };
const contents = { contents: [{ parts: [{ text: 'a' }] }] };
const images = { prompt: 'a' };

test.each([
  ['a chat', 'images', '/v1/chat/completions', chat],
  ['a chat that streams', 'images', '/v1/chat/completions', { ...chat, stream: true }],
  ['generateContent', 'images', '/v1beta/models/{}:generateContent', contents],
  ['streamGenerateContent', 'images', '/v1beta/models/{}:streamGenerateContent', contents],
  ['images', 'generate-content', '/v1/images/generations', images],
  ['images that stream', 'generate-content', '/v1/images/generations', { ...images, stream: true }],
  ['generateContent', 'generate-content-mapped', '/v1beta/models/{}:generateContent', contents],
  [
    'streamGenerateContent with events',
    'generate-content-mapped',
    '/v1beta/models/{}:streamGenerateContent?alt=sse',
    contents,
  ],
])(
  'a picture of 60 MiB for %s by %s delays nobody',
  async (_, model, path, asked) => {
    const bodyOf = model === 'images' ? ofImages : ofContents;
    const ask = () =>
      far.ask(
        gateway,
        path.replace('{}', model),
        { ...asked, ...(!path.includes('{}') && { model }) },
        null,
      );
    far.answer({ headers: json, body: bodyOf(mebibyte) });
    await ask();
    far.answer({ headers: json, body: bodyOf(60 * mebibyte) });
    let response = { status: 0, id: '', bytes: 0, head: '' };
    const held = await longestTurn(async () => {
      response = await ask();
    });
    expect(response.status).toBe(200);
    expect(response.bytes).toBeGreaterThan(60 * mebibyte);
    expect((await rowOf(gateway, response.id)).cost).toBe('0.04');
    expect(held).toBeLessThan(longest);
  },
  60_000,
);

const bodies = {
  chat: (data: string) =>
    `{"model":"MODEL","messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"data:image/png;base64,${data}"}}]}]}`,
  contents: (data: string) =>
    `{"contents":[{"parts":[{"text":"a"},{"inlineData":{"mimeType":"image/png","data":"${data}"}}]}],"model":"models/mine"}`,
  images: (data: string) =>
    `{"model":"MODEL","prompt":"a","images":[{"image_url":"data:image/png;base64,${data}"}]}`,
};
const native = '/v1beta/models/generate-content-mapped:generateContent';

test.each([
  ['a chat', 'chat', 'images', '/v1/chat/completions', ''],
  ['a chat', 'chat', 'generate-content', '/v1/chat/completions', ''],
  ['a chat of escapes', 'chat', 'images', '/v1/chat/completions', '\\/'],
  ['generateContent', 'contents', 'images', '/v1beta/models/images:generateContent', ''],
  ['generateContent', 'contents', 'generate-content', native, ''],
  ['an edit in JSON', 'images', 'generate-content', '/v1/images/edits', ''],
] as const)(
  'a source of 40 MiB in %s (%s) for %s delays nobody',
  async (_, form, model, path, escape) => {
    const bodyOf = (bytes: number) =>
      Buffer.from(
        bodies[form](
          square +
            (escape || 'A').repeat(bytes / 4) +
            'A'.repeat((bytes * 3) / 4 - (bytes / 4) * Math.max(escape.length - 1, 0)),
        ).replace('MODEL', model),
      );
    far.answer({ headers: json, body: model === 'images' ? ofImages(8) : ofContents(8) });
    far.send(bodyOf(2 * mebibyte));
    await far.ask(gateway, path, null, null);
    far.send(bodyOf(40 * mebibyte));
    let response = { status: 0, id: '', bytes: 0, head: '' };
    const held = await longestTurn(async () => {
      response = await far.ask(gateway, path, null, null);
    });
    expect([response.status, response.head.slice(0, 200)]).toEqual([200, expect.anything()]);
    expect((await rowOf(gateway, response.id)).cost).toBe('0.04');
    expect(held).toBeLessThan(longest);
  },
  60_000,
);

test('the body of a streamed request is released when its response begins', async () => {
  const mebibytes = 40;
  const event = `data: {"candidates":[{"content":{"parts":[{"text":"a"}]}}]}\n\n`;
  const last = `data: {"candidates":[{"content":{"parts":[{"inlineData":{"mimeType":"image/png","data":"${square}"}}]},"finishReason":"STOP"}]}\n\n`;
  const upstream = await startOwnUpstream();
  const opened: ServerResponse[] = [];
  upstream.answer = (_request, response) => {
    opened.push(response);
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(event);
  };
  const own = await startTestGateway({
    config: `
channels: [{ name: own, provider: gemini, base_url: "${upstream.url}", api_key: sk-up, models: [own] }]
models: [{ id: own, type: image, capabilities: [edits], price: { image_tiers: [{ name: 1K, max_pixels: 2000000, price: 0.04 }] } }]
`,
  });
  try {
    const data = `${square}${'A'.repeat(mebibytes * mebibyte)}`;
    const asked = `{"contents":[{"parts":[{"text":"a"},{"inlineData":{"mimeType":"image/png","data":"${data}"}}]}]}`;
    const response = await fetch(`${own.url}/v1beta/models/own:streamGenerateContent?alt=sse`, {
      method: 'POST',
      headers: { authorization: `Bearer ${testKey}`, 'content-type': 'application/json' },
      body: asked,
    });
    expect(response.status).toBe(200);
    upstream.clear();
    const held = async () => {
      const text = await (await fetch(`${own.url}/metrics`)).text();
      return Number(/^sluice_body_memory_bytes(?:\{[^}]*\})? (\S+)/m.exec(text)?.[1]);
    };
    // What is reserved for the pictures of the response stays.
    expect(await held()).toBeLessThan(mebibytes * mebibyte);
    opened[0]?.end(last);
    expect(await response.text()).toContain('STOP');
  } finally {
    await own.close();
    await upstream.close();
  }
}, 60_000);
