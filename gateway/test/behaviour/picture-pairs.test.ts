import { createImage } from 'simulator';
import { describe, expect, test } from 'vitest';
import { testKey } from '../support/gateway.ts';
import { rowOf, shareGateway } from './support.ts';

const price = 'price: { input: 2, output: 12, output_image: 120 }';

const channel = (name: string, upstream: string, protocol: string): string =>
  `  - { name: ${name}, provider: simulator, base_url: SIMULATOR, protocols: [${protocol}], models: [{ name: ${name}, upstream: ${upstream} }] }`;

const shared = shareGateway({
  config: `
channels:
${channel('pictures', 'gpt-image-1', 'images')}
${channel('parts', 'demo-image', 'generate-content')}
models:
  - { id: pictures, type: image, capabilities: [edits, streaming], ${price} }
  - { id: parts, type: image, capabilities: [edits, streaming], ${price} }
users: [{ email: tester@example.com, balance: 100 }]
keys: [{ name: test, user: tester@example.com, secret: ${testKey} }]
`,
});

const png = createImage({ type: 'png', width: 64, height: 64 });
const base64 = png.toString('base64');

/** How clients ask for two pictures. */
const clients = {
  generations: (model: string, stream: boolean) => ({
    path: '/v1/images/generations',
    body: JSON.stringify({ model, prompt: 'A cat', n: 2, ...(stream && { stream }) }),
  }),
  edits(model: string, stream: boolean) {
    const form = new FormData();
    form.append('image', new Blob([new Uint8Array(png)], { type: 'image/png' }), 'a.png');
    for (const [name, value] of Object.entries({ prompt: 'Blue', n: '2', model })) {
      form.append(name, value);
    }
    if (stream) form.append('stream', 'true');
    return { path: '/v1/images/edits', body: form };
  },
  chat: (model: string, stream: boolean) => ({
    path: '/v1/chat/completions',
    body: JSON.stringify({ model, n: 2, stream, messages: [{ role: 'user', content: 'A cat' }] }),
  }),
  'chat edit': (model: string, stream: boolean) => ({
    path: '/v1/chat/completions',
    body: JSON.stringify({
      model,
      n: 2,
      stream,
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Blue' },
            { type: 'image_url', image_url: { url: `data:image/png;base64,${base64}` } },
          ],
        },
      ],
    }),
  }),
  contents: (model: string, stream: boolean) => ({
    path: `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body: JSON.stringify({
      contents: [{ role: 'user', parts: [{ text: 'A cat' }] }],
      generationConfig: { candidateCount: 2 },
    }),
  }),
  'contents edit': (model: string, stream: boolean) => ({
    path: `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body: JSON.stringify({
      contents: [
        {
          role: 'user',
          parts: [{ text: 'Blue' }, { inlineData: { mimeType: 'image/png', data: base64 } }],
        },
      ],
      generationConfig: { candidateCount: 2 },
    }),
  }),
} as const;
type Client = keyof typeof clients;

const whole = '/v1beta/models/demo-image:generateContent';
const streamed = '/v1beta/models/demo-image:streamGenerateContent?alt=sse';
const made = '/v1/images/generations';
const edited = '/v1/images/edits';

/** Client, its upstream, whether the client streams; where the request goes, and whether the upstream streams. */
const pairs: readonly (readonly [Client, 'pictures' | 'parts', boolean, string, boolean])[] = [
  ['generations', 'pictures', false, made, false],
  ['generations', 'pictures', true, made, true],
  ['generations', 'parts', false, whole, false],
  ['generations', 'parts', true, whole, false],
  ['edits', 'pictures', false, edited, false],
  ['edits', 'pictures', true, edited, true],
  ['edits', 'parts', false, whole, false],
  ['edits', 'parts', true, whole, false],
  ['chat', 'pictures', false, made, false],
  ['chat', 'pictures', true, made, false],
  ['chat', 'parts', false, whole, false],
  ['chat', 'parts', true, whole, false],
  ['chat edit', 'pictures', false, edited, false],
  ['chat edit', 'pictures', true, edited, false],
  ['chat edit', 'parts', false, whole, false],
  ['chat edit', 'parts', true, whole, false],
  ['contents', 'pictures', false, made, false],
  ['contents', 'pictures', true, made, false],
  ['contents', 'parts', false, whole, false],
  ['contents', 'parts', true, streamed, true],
  ['contents edit', 'pictures', false, edited, false],
  ['contents edit', 'pictures', true, edited, false],
  ['contents edit', 'parts', false, whole, false],
  ['contents edit', 'parts', true, streamed, true],
];

/** Base64 of PNG pictures in a response of any kind. */
const imagesIn = (text: string): number => text.match(/iVBORw0KGgo[\w+/]{20}/g)?.length ?? 0;

describe('two pictures', () => {
  test.each(pairs)('for %s by %s, streamed: %s', async (client, model, stream, path, isStream) => {
    const { gateway } = shared;
    gateway.simulator.clear();
    const asked = clients[client](model, stream);
    const response = await fetch(gateway.url + asked.path, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${testKey}`,
        ...(typeof asked.body === 'string' && { 'content-type': 'application/json' }),
      },
      body: asked.body,
    });
    const text = await response.text();
    expect(response.status, text.slice(0, 300)).toBe(200);
    expect(response.headers.get('content-type')).toMatch(
      stream ? /^text\/event-stream/ : /^application\/json/,
    );
    expect(imagesIn(text)).toBe(2);
    if (stream) expectFrames(client, text);
    const [sent, ...others] = gateway.simulator.requests();
    expect(others).toEqual([]);
    expect(sent?.path).toBe(path);
    const wantsStream =
      sent?.path === streamed ||
      (sent?.json as { stream?: unknown } | null)?.stream === true ||
      JSON.stringify(sent?.form ?? '').includes('"stream"');
    expect(wantsStream).toBe(isStream);
    const row = await rowOf(gateway, response.headers.get('x-request-id') ?? '');
    const sources = client.includes('edit') ? { reference_images: 1 } : {};
    expect(row).toMatchObject({
      outcome: 'completed',
      units: { images: 2, ...sources },
    });
    const { input_image_tokens: inImages = 0, output_image_tokens: outImages = 0 } =
      row.units ?? {};
    expect(outImages).toBeGreaterThan(0);
    const { input, output } = row.tokens;
    // Pictures of the input have no price of their own.
    expect(inImages).toBeLessThanOrEqual(input);
    const cost = (2 * input + 12 * (output - outImages) + 120 * outImages) / 1e6;
    expect(Number(row.cost)).toBeCloseTo(cost, 9);
  });
});

describe('pictures of megabytes, which are read in a thread', () => {
  const whole = pairs.filter(([, , , , isStream]) => !isStream);
  test.each(whole)('for %s by %s, streamed: %s', async (client, model, stream) => {
    const { gateway } = shared;
    const asked = clients[client](model, stream);
    const response = await fetch(gateway.url + asked.path, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${testKey}`,
        'x-simulator-fault': 'picture-bytes=3000000',
        ...(typeof asked.body === 'string' && { 'content-type': 'application/json' }),
      },
      body: asked.body,
    });
    const text = await response.text();
    expect(response.status, text.slice(0, 300)).toBe(200);
    if (stream) expectFrames(client, text);
    else expect(JSON.parse(text)).toBeTypeOf('object');
    expect(imagesIn(text)).toBe(2);
    expect(text.length).toBeGreaterThan(8_000_000);
    expect(text).not.toContain('demo-image');
    const row = await rowOf(gateway, response.headers.get('x-request-id') ?? '');
    expect(row).toMatchObject({ outcome: 'completed', units: { images: 2 } });
  });
});

test('layers are not converted', async () => {
  const { gateway } = shared;
  gateway.simulator.clear();
  const response = await gateway.post('/v1/images/generations', {
    model: 'parts',
    layer_decomposition: true,
    image: `data:image/png;base64,${base64}`,
  });
  expect(response.status).toBe(400);
  await response.text();
  expect(gateway.simulator.requests()).toEqual([]);
});

function expectFrames(client: Client, text: string): void {
  const frames = text.trimEnd().split('\n\n');
  if (client === 'generations' || client === 'edits') {
    expect(frames.at(-1)).toBe('data: [DONE]');
    const names = frames.slice(0, -1).map((frame) => /^event: (.*)$/m.exec(frame)?.[1]);
    const final = 'image_generation.complete';
    expect(names.filter((name) => name === final)).toHaveLength(2);
  } else if (client.startsWith('chat')) expect(frames.at(-1)).toBe('data: [DONE]');
  else
    for (const frame of frames)
      expect(JSON.parse(frame.replace(/^data: /, ''))).toBeTypeOf('object');
}
