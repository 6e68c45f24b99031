import { createImage } from 'simulator';
import { describe, expect, test } from 'vitest';
import { testKey } from '../support/gateway.ts';
import { rowOf, shareGateway } from './support.ts';

const tiers =
  'price: { image_tiers: [{ name: 1K, max_pixels: 2610000, price: 0.04 }, { name: 4K, max_pixels: 20000000, price: 0.08 }], reference_image: 0.003 }';
const tokens = 'price: { input: 2, output: 12, output_image: 120 }';

const channel = (name: string, upstream: string, protocol: string) =>
  `  - { name: ${name}, provider: simulator, base_url: SIMULATOR, protocols: [${protocol}], models: [{ name: ${name}, upstream: ${upstream} }] }`;

const shared = shareGateway({
  config: `
channels:
${channel('own', 'demo-image', 'generate-content')}
${channel('own-by-size', 'demo-image', 'generate-content')}
${channel('pictures', 'gpt-image-1', 'images')}
${channel('references', 'demo-image', 'images')}
  - name: both
    provider: simulator
    base_url: SIMULATOR
    protocols: [images, generate-content]
    models: [{ name: both, upstream: demo-image }]
models:
  - { id: own, type: image, capabilities: [edits, streaming, layers], ${tokens} }
  - { id: own-by-size, type: image, capabilities: [edits], ${tiers} }
  - { id: pictures, type: image, capabilities: [edits], ${tiers} }
  - { id: references, type: image, capabilities: [multi_reference], ${tiers} }
  - { id: both, type: image, capabilities: [edits], ${tokens} }
users:
  - { email: tester@example.com, balance: 100 }
keys:
  - { name: test, user: tester@example.com, secret: ${testKey} }
`,
});

type Json = Readonly<Record<string, unknown>>;

async function send(path: string, body: string | FormData) {
  const { gateway } = shared;
  gateway.simulator.clear();
  const response = await fetch(gateway.url + path, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${testKey}`,
      ...(typeof body === 'string' && { 'content-type': 'application/json' }),
    },
    body,
  });
  const text = await response.text();
  const { status, headers } = response;
  return {
    status,
    headers,
    text,
    json: (text.startsWith('{') ? JSON.parse(text) : {}) as Json,
    upstream: gateway.simulator.requests(),
    row: await rowOf(gateway, headers.get('x-request-id') ?? ''),
  };
}

const generate = (model: string, body: string | object) =>
  send(
    `/v1beta/models/${model}:generateContent`,
    typeof body === 'string' ? body : JSON.stringify(body),
  );
const image = (body: object) => send('/v1/images/generations', JSON.stringify(body));

const contents = (text: string) => [{ role: 'user', parts: [{ text }] }];
const png = createImage({ type: 'png', width: 8, height: 8 });
const inlineData = { mimeType: 'image/png', data: png.toString('base64') };

interface Drawn {
  readonly candidates: readonly {
    readonly content: { readonly parts: readonly { readonly inlineData?: { data: string } }[] };
    readonly finishReason: string;
  }[];
  readonly usageMetadata: Readonly<Record<string, number>>;
  readonly modelVersion: string;
}

function costOf(row: {
  readonly tokens: { readonly input: number; readonly output: number };
  readonly units?: { readonly output_image_tokens?: number } | null;
}): number {
  const images = row.units?.output_image_tokens ?? 0;
  return (2 * row.tokens.input + 120 * images + 12 * (row.tokens.output - images)) / 1e6;
}

describe('generate-content with an image model of its own protocol', () => {
  test.each([
    [
      '{"contents":[{"parts":[{"text":"A cat"}]}], "x":1.0}',
      '{"generationConfig":{"responseModalities":["Image"]},"contents":[{"parts":[{"text":"A cat"}]}], "x":1.0}',
    ],
    [
      '{"contents":[{"parts":[{"text":"A cat"}]}],"generationConfig":{"responseModalities":["TEXT"]}}',
      '{"contents":[{"parts":[{"text":"A cat"}]}],"generationConfig":{"responseModalities":["TEXT","IMAGE"]}}',
    ],
    [
      '{"contents":[{"parts":[{"text":"A cat"}]}],"generationConfig":{"responseModalities":["Image"], "seed":7}}',
      '{"contents":[{"parts":[{"text":"A cat"}]}],"generationConfig":{"responseModalities":["Image"], "seed":7}}',
    ],
  ])('declares pictures in %s', async (body, sent) => {
    const { status, json, upstream, row } = await generate('own', body);
    expect(status).toBe(200);
    expect(upstream[0]?.body).toBe(sent);
    const drawn = json as unknown as Drawn;
    expect(drawn.modelVersion).toBe('own');
    expect(drawn.candidates[0]?.content.parts.some((part) => part.inlineData)).toBe(true);
    expect(row).toMatchObject({ protocol: 'generate-content', units: { images: 1 }, losses: [] });
    expect(Number(row.cost)).toBeCloseTo(costOf(row), 9);
  });

  test.each([
    ['?alt=sse', /^data: \{.*\}\n\n$/s, /^text\/event-stream/],
    ['', /^\[.*\]$/s, /^application\/json/],
  ])('streams with "%s"', async (query, shape, type) => {
    const { status, headers, text, row } = await send(
      `/v1beta/models/own:streamGenerateContent${query}`,
      JSON.stringify({ contents: contents('A cat') }),
    );
    expect([status, headers.get('content-type')]).toEqual([200, expect.stringMatching(type)]);
    expect(text).toMatch(shape);
    expect(text).toContain('"inlineData"');
    expect(row).toMatchObject({ outcome: 'completed', units: { images: 1 } });
  });

  test('pays by the size of the picture itself where sizes have prices', async () => {
    const ask = (imageSize: string) =>
      generate('own-by-size', {
        contents: contents('A cat'),
        generationConfig: { imageConfig: { imageSize } },
      });
    expect((await ask('1K')).row).toMatchObject({ units: { images: 1 }, cost: '0.04' });
    expect((await ask('4K')).row).toMatchObject({ units: { images: 1 }, cost: '0.08' });
  });

  test('is shown a blocked prompt as its upstream shows it', async () => {
    const { status, json } = await generate('own', { contents: contents('refuse prompt') });
    expect(status).toBe(200);
    expect(json).toHaveProperty('promptFeedback');
  });

  test('goes to an upstream of its own protocol rather than to images', async () => {
    const { upstream } = await generate('both', { contents: contents('A cat') });
    expect(upstream[0]?.path).toBe('/v1beta/models/demo-image:generateContent');
  });
});

describe('generate-content with a model of images', () => {
  test('gets parts, with the tokens by modality', async () => {
    const { status, json, upstream, row, headers } = await generate('pictures', {
      contents: contents('A cat'),
      generationConfig: { candidateCount: 2, imageConfig: { aspectRatio: '16:9' }, temperature: 1 },
    });
    expect(status).toBe(200);
    expect(upstream[0]).toMatchObject({
      path: '/v1/images/generations',
      json: { model: 'gpt-image-1', prompt: 'A cat', n: 2, size: '1536x1024' },
    });
    const drawn = json as unknown as Drawn;
    expect(drawn.candidates).toHaveLength(2);
    expect(drawn.candidates.map(({ finishReason }) => finishReason)).toEqual(['STOP', 'STOP']);
    expect(drawn.usageMetadata).toMatchObject({
      promptTokenCount: row.tokens.input,
      candidatesTokenCount: row.tokens.output,
    });
    expect(headers.get('x-sluice-conversion')).toBe(
      'dropped=generationConfig.temperature; approx=size',
    );
    expect(row).toMatchObject({ units: { images: 2 }, cost: '0.08' });
  });

  test.each([
    ['pictures', '/v1/images/edits'],
    ['references', '/v1/images/generations'],
  ])('sends its picture to %s', async (model, path) => {
    const { status, upstream, row } = await generate(model, {
      contents: [{ parts: [{ text: 'Blue' }, { inlineData }] }],
    });
    expect([status, upstream[0]?.path]).toEqual([200, path]);
    expect(row).toMatchObject({ units: { images: 1, reference_images: 1 } });
  });

  test.each(['own', 'pictures'])('sends a picture of megabytes to %s', async (model) => {
    const bytes = createImage({ type: 'png', width: 8, height: 8, bytes: 5_000_000 });
    const image = { mimeType: 'image/png', data: bytes.toString('base64') };
    const { status, upstream, row } = await generate(model, {
      contents: [{ parts: [{ text: 'Blue' }, { inlineData: image }] }],
    });
    expect(status).toBe(200);
    expect(upstream[0]?.bodyBytes).toBeGreaterThan(bytes.length);
    expect(row).toMatchObject({ units: { images: 1, reference_images: 1 } });
  });

  test('without a text is refused', async () => {
    const { status, upstream, row } = await generate('pictures', { contents: [{ parts: [] }] });
    expect(status).toBe(400);
    expect(upstream).toEqual([]);
    expect(row.cost).toBeNull();
  });
});

describe('images with a model of generate-content', () => {
  test('gets pictures with their own size, and the tokens of text and pictures', async () => {
    const { status, json, upstream, row, headers } = await image({
      model: 'own',
      prompt: 'A cat',
      size: '1536x1024',
      quality: 'high',
    });
    expect(status).toBe(200);
    expect(upstream[0]).toMatchObject({
      path: '/v1beta/models/demo-image:generateContent',
      json: {
        contents: [{ role: 'user', parts: [{ text: 'A cat' }] }],
        generationConfig: {
          responseModalities: ['IMAGE'],
          imageConfig: { aspectRatio: '3:2', imageSize: '1K' },
        },
      },
    });
    expect(json).toMatchObject({
      size: '1248x832',
      output_format: 'png',
      data: [{ b64_json: expect.stringMatching(/^iVBOR/) as unknown, size: '1248x832' }],
      usage: { input_tokens: row.tokens.input, output_tokens: row.tokens.output },
    });
    expect(headers.get('x-sluice-conversion')).toBe('dropped=quality; approx=size');
    expect(row).toMatchObject({ protocol: 'images', units: { images: 1 } });
    expect(Number(row.cost)).toBeCloseTo(costOf(row), 9);
  });

  test('has pictures edited', async () => {
    const form = new FormData();
    form.append('image', new Blob([new Uint8Array(png)], { type: 'image/png' }), 'a.png');
    form.append('prompt', 'Blue');
    form.append('model', 'own');
    const { status, upstream, row } = await send('/v1/images/edits', form);
    expect(status).toBe(200);
    expect(upstream[0]?.json).toMatchObject({
      contents: [{ parts: [{ text: 'Blue' }, { inlineData }] }],
    });
    expect(row).toMatchObject({ units: { images: 1, reference_images: 1 } });
  });

  test.each([
    ['refuse prompt', 400, 'content_policy_violation'],
    ['refuse IMAGE_SAFETY', 400, 'content_policy_violation'],
    ['no picture', 502, undefined],
  ])('of the prompt "%s" gets %i and pays nothing', async (prompt, expected, code) => {
    const { status, json, row, upstream } = await image({ model: 'own', prompt });
    expect(status).toBe(expected);
    if (code !== undefined) expect(json).toMatchObject({ error: { code } });
    expect(upstream).toHaveLength(1);
    expect(row.cost).toBeNull();
  });

  test.each([
    ['a transparent background', { background: 'transparent' }],
    ['layers', { layer_decomposition: true, image: `data:image/png;base64,${inlineData.data}` }],
  ])('with %s is refused, and nothing is sent', async (_, more) => {
    const { status, upstream, row } = await image({ model: 'own', prompt: 'A cat', ...more });
    expect(status).toBe(400);
    expect(upstream).toEqual([]);
    expect(row.cost).toBeNull();
  });

  test('goes to an upstream of its own protocol where there is one', async () => {
    const { upstream } = await image({ model: 'both', prompt: 'A cat' });
    expect(upstream[0]?.path).toBe('/v1/images/generations');
  });
});
