import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createImage, startSimulator, type Simulator } from '../src/index.ts';
import { readImage } from '../src/image-files/read-image.ts';
import { ask, askRaw, askStream, type Json } from './client.ts';

let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator();
});
afterAll(() => simulator.close());
beforeEach(() => simulator.clear());

const draw = (changes: Record<string, unknown> = {}, headers = {}) =>
  ask(simulator, 'images', changes, headers);
const fault = (text: string) => ({ 'x-simulator-fault': text });
const headOf = (entry: Json) => readImage(Buffer.from(entry.b64_json, 'base64'));
const gpt = { model: 'gpt-image-1' };

describe('a generation', () => {
  test('is as of gpt-image-1', async () => {
    const { status, json } = await draw({ ...gpt, prompt: 'a cat on a red chair' });
    expect(status).toBe(200);
    expect(json).toMatchObject({
      created: 1_790_000_000,
      background: 'opaque',
      output_format: 'png',
      quality: 'medium',
      size: '1024x1024',
      usage: {
        total_tokens: 1061,
        input_tokens: 5,
        output_tokens: 1056,
        input_tokens_details: { text_tokens: 5, image_tokens: 0 },
      },
    });
    expect(json.usage).not.toHaveProperty('output_tokens_details');
    expect(json.data).toHaveLength(1);
    expect(Object.keys(json.data[0])).toEqual(['b64_json']);
    expect(headOf(json.data[0])).toMatchObject({ type: 'png', width: 1024, height: 1024 });
  });

  test('of a newer model states its tokens of text', async () => {
    const { json } = await draw({ model: 'gpt-image-2', size: '1536x1024', quality: 'high', n: 2 });
    expect(json.usage).toMatchObject({
      output_tokens: 2 * (6208 + 100),
      output_tokens_details: { text_tokens: 200, image_tokens: 2 * 6208 },
    });
    expect(json.data).toHaveLength(2);
    expect(json.data[0]).not.toEqual(json.data[1]);
  });

  test.each([
    ['low', '1024x1024', 272],
    ['low', '1024x1536', 408],
    ['medium', '1536x1024', 1568],
    ['auto', 'auto', 1056],
  ])('of quality %s and size %s takes %i tokens', async (quality, size, tokens) => {
    expect((await draw({ ...gpt, quality, size })).json.usage.output_tokens).toBe(tokens);
  });

  test('has the type, the background and the size requested', async () => {
    const { json } = await draw({
      ...gpt,
      output_format: 'webp',
      background: 'transparent',
      size: '1024x1536',
    });
    expect(json).toMatchObject({ output_format: 'webp', background: 'transparent' });
    expect(headOf(json.data[0])).toEqual({ type: 'webp', width: 1024, height: 1536, alpha: true });
  });

  test('of an older model is an address, without usage', async () => {
    const { json } = await draw({ model: 'dall-e-3', size: '1792x1024' });
    expect(Object.keys(json)).toEqual(['created', 'data']);
    expect(json.data[0].revised_prompt).toContain('a red square');
    const image = await fetch(json.data[0].url);
    const bytes = Buffer.from(await image.arrayBuffer());
    expect(readImage(bytes)).toMatchObject({ type: 'png', width: 1792, height: 1024 });
    const { json: inside } = await draw({ model: 'dall-e-2', response_format: 'b64_json' });
    expect(Object.keys(inside.data[0])).toEqual(['b64_json']);
  });

  test('without a model is of the oldest one', async () => {
    const { json } = await draw({ model: undefined, size: '256x256' });
    expect(Object.keys(json)).toEqual(['created', 'data']);
    expect(json.data[0].url).toContain('/256x256-');
  });

  test('of the demo model states the size of every picture', async () => {
    const { json } = await draw({ n: 3, prompt: 'squares, sizes 1500x1740 1500x1741' });
    expect(json.data.map(({ size }: Json) => size)).toEqual([
      '1500x1740',
      '1500x1741',
      '1500x1741',
    ]);
    expect(json.data.map(headOf)).toMatchObject([
      { height: 1740 },
      { height: 1741 },
      { height: 1741 },
    ]);
    expect(json.usage).not.toHaveProperty('input_images');
    expect((await draw({ size: '2K' })).json.data[0].size).toBe('2048x2048');
  });

  test('of the demo model takes references', async () => {
    const base64 = createImage({ type: 'jpeg', width: 8, height: 8 }).toString('base64');
    const image = ['https://pictures.invalid/a', base64, `data:image/jpeg;base64,${base64}`];
    const { json } = await draw({ image });
    expect(json.usage).toMatchObject({
      input_images: 3,
      generated_images: 1,
      input_tokens_details: { text_tokens: 3, image_tokens: 900 },
    });
    expect((await draw({ image: image[0] })).json.usage.input_images).toBe(1);
  });

  test('is the same for the same request', async () => {
    expect((await draw({ n: 2 })).text).toBe((await draw({ n: 2 })).text);
  });
});

describe('an edit', () => {
  const image = (width = 20, height = 10) => createImage({ type: 'png', width, height });
  const mask = createImage({ type: 'png', width: 20, height: 10, transparent: true });

  test('takes a form', async () => {
    const { status, json } = await edit([
      ['image[]', image(), 'a.png'],
      ['model', 'gpt-image-1'],
      ['n', '2'],
      ['output_compression', '100'],
      ['input_fidelity', 'high'],
      ['image[]', image(5, 5), 'b.png'],
      ['mask', mask, 'm.png'],
      ['prompt', 'make it red!'],
    ]);
    expect(status).toBe(200);
    expect(json.data).toHaveLength(2);
    expect(json.usage.input_tokens_details).toEqual({ text_tokens: 3, image_tokens: 600 });
  });

  test.each([
    ['once', ['image']],
    ['repeated', ['image', 'image']],
    ['with brackets', ['image[]', 'image[]']],
    ['with numbers', ['image[1]', 'image[0]']],
  ])('takes its pictures %s', async (_, names) => {
    const { json } = await edit([
      ['model', 'demo-image'],
      ['prompt', 'red'],
      ...names.map((name): Part => [name, image(), 'a.png']),
    ]);
    expect(json.usage.input_images).toBe(names.length);
  });

  test('of the demo model ignores the declared type', async () => {
    const { status } = await edit([
      ['model', 'demo-image'],
      ['prompt', 'red'],
      ['image', image(), 'a.bin'],
    ]);
    expect(status).toBe(200);
  });

  test('takes JSON', async () => {
    const url = `data:image/png;base64,${image().toString('base64')}`;
    const images = [
      { image_url: url },
      { file_id: 'file-abc' },
      { image_url: 'https://a.invalid/b' },
    ];
    const { status, json } = await ask(simulator, 'edits', {
      ...gpt,
      images,
      mask: { image_url: `data:image/png;base64,${mask.toString('base64')}` },
    });
    expect(status).toBe(200);
    expect(json.usage.input_tokens_details.image_tokens).toBe(900);
    const demo = await ask(simulator, 'edits', {
      images: undefined,
      image: ['https://a.invalid/b'],
    });
    expect(demo.json.usage.input_images).toBe(1);
  });

  test('of dall-e-2 takes one picture', async () => {
    const parts: Part[] = [
      ['model', 'dall-e-2'],
      ['prompt', 'red'],
      ['image', image(8, 8), 'a.png'],
    ];
    expect((await edit(parts)).status).toBe(200);
    expect((await edit([...parts, ['image', image(8, 8), 'b.png']])).status).toBe(400);
    expect((await edit([...parts.slice(1), ['model', 'dall-e-3']])).status).toBe(400);
  });

  const good: Part[] = [
    ['model', 'gpt-image-1'],
    ['prompt', 'red'],
    ['image', image(), 'a.png'],
  ];

  test.each<[string, Part[], RegExp]>([
    ['no file', good.slice(0, 2), /Missing required parameter: 'image'/],
    ['no prompt', [good[0], good[2]] as Part[], /Missing required parameter: 'prompt'/],
    ['two pictures, without a model', [...good.slice(1), good[2]] as Part[], /maximum length 1/],
    ['an empty file', [...good, ['image', Buffer.alloc(0), 'a.png']], /empty file/],
    ['text as a file', [...good, ['image', Buffer.from('a cat'), 'a.png']], /Invalid image file/],
    ['a picture as text', [...good, ['image', image().toString('base64')]], /expected a file/],
    ['another type of file', [...good, ['image', image(), 'a.bin']], /unsupported mimetype/],
    [
      'a GIF',
      [...good, ['image', Buffer.from('GIF89a\x01\0\x01\0\0\0'), 'a.png']],
      /Invalid image/,
    ],
    ['a field twice', [...good, ['prompt', 'blue']], /Duplicate parameter: 'prompt'/],
    ['two masks', [...good, ['mask', mask, 'm.png'], ['mask', mask, 'm.png']], /Duplicate/],
    ['a mask of another size', [...good, ['mask', image(9, 9), 'm.png']], /mask/],
    ['a mask without alpha', [...good, ['mask', image(), 'm.png']], /alpha channel/],
    ['an unknown field', [...good, ['style', 'vivid']], /Unknown parameter: 'style'/],
    ['the response format', [...good, ['response_format', 'url']], /Unknown parameter/],
    ['a file as a field', [...good, ['quality', image(), 'a.png']], /Invalid type for 'quality'/],
    ['a number in words', [...good, ['n', 'two']], /Invalid type for 'n'/],
    ['too many', [...good, ['n', '11']], /above maximum/],
    ['another word for true', [...good, ['stream', 'yes']], /Invalid type for 'stream'/],
    [
      '17 pictures',
      Array(17).fill(good[2]).concat(good.slice(0, 2)) as Part[],
      /maximum length 16/,
    ],
  ])('is refused with %s', async (_, parts, message) => {
    const { status, json } = await edit(parts);
    expect(status).toBe(400);
    expect(json.error.message).toMatch(message);
  });

  test.each<[string, Record<string, unknown>, RegExp]>([
    ['no picture', { images: undefined }, /Missing required parameter: 'image'/],
    ['no list', { images: 'https://a.invalid/b' }, /Invalid type for 'images'/],
    [
      'two addresses',
      { images: [{ image_url: 'https://a.b/c', file_id: 'file-a' }] },
      /exactly one/,
    ],
    ['no address', { images: [{}] }, /Missing required parameter: 'images\[0\].image_url'/],
    ['an unknown member', { images: [{ url: 'https://a.b/c' }] }, /Unknown .*'images\[0\].url'/],
    ['another address', { images: [{ image_url: 'ftp://a.b/c' }] }, /expected an http/],
    ['an unknown file', { images: [{ file_id: 'abc' }] }, /no such file/],
    ['text', { images: [{ image_url: 'data:image/png;base64,YWJj' }] }, /Invalid image file/],
    ['a member of another model', { image: 'https://a.b/c' }, /Unknown parameter: 'image'/],
  ])('as JSON is refused with %s', async (_, changes, message) => {
    const { status, json } = await ask(simulator, 'edits', { ...gpt, ...changes });
    expect(status).toBe(400);
    expect(json.error.message).toMatch(message);
  });

  test.each([
    ['a wrong boundary', 'multipart/form-data; boundary=b', '--a\r\n'],
    ['no boundary', 'multipart/form-data', '--a\r\n'],
    ['a form without an end', 'multipart/form-data; boundary=a', '--a\r\n'],
  ])('is refused with %s', async (_, type, body) => {
    const headers = { authorization: 'Bearer key', 'content-type': type };
    const path = `${simulator.url}/v1/images/edits`;
    expect((await fetch(path, { method: 'POST', headers, body })).status).toBe(400);
    expect(
      (await fetch(path.replace('edits', 'generations'), { method: 'POST', headers, body })).status,
    ).toBe(400);
  });
});

describe('a stream', () => {
  test('has partial pictures, then each picture with the usage so far', async () => {
    const { text, events } = await askStream(simulator, 'images', {
      ...gpt,
      n: 2,
      partial_images: 2,
    });
    expect(events.map(({ type, partial_image_index: index }) => [type, index])).toEqual([
      ['image_generation.partial_image', 0],
      ['image_generation.partial_image', 1],
      ['image_generation.completed', undefined],
      ['image_generation.partial_image', 0],
      ['image_generation.partial_image', 1],
      ['image_generation.completed', undefined],
    ]);
    expect(text).toContain('event: image_generation.completed\ndata: {');
    expect(text).not.toContain('[DONE]');
    expect(events[2].usage.output_tokens).toBe(1056 + 200);
    expect(events[5].usage.output_tokens).toBe(2 * (1056 + 200));
    expect(events[0]).toMatchObject({ size: '1024x1024', created_at: 1_790_000_000 });
    expect(new Set(events.map(({ b64_json: image }) => image)).size).toBe(6);
  });

  test('of an edit has its own names', async () => {
    const { events } = await askStream(simulator, 'edits', { partial_images: 1 });
    expect(events.map(({ type }) => type)).toEqual([
      'image_edit.partial_image',
      'image_edit.completed',
    ]);
  });

  test('can have other names and an end', async () => {
    const { text, events } = await askStream(simulator, 'images', {}, fault('literal-events;done'));
    expect(events[0].type).toBe('image_generation.complete');
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
  });

  test('of a refused picture ends in an error', async () => {
    const refused = { ...gpt, prompt: 'please refuse', partial_images: 1 };
    const { events } = await askStream(simulator, 'images', refused);
    expect(events.map(({ type, error }) => type ?? error.code)).toEqual([
      'image_generation.partial_image',
      'moderation_blocked',
    ]);
  });
});

describe('the vendor refuses', () => {
  test.each<[string, Record<string, unknown>, string]>([
    ['a size, without a model', { model: undefined, size: '1536x1024' }, 'size'],
    ['no prompt', { prompt: undefined }, 'prompt'],
    ['an empty prompt', { prompt: '' }, 'prompt'],
    ['a prompt that is not text', { prompt: 7 }, 'prompt'],
    ['a prompt that is too long', { prompt: 'a'.repeat(32_001) }, 'prompt'],
    ['a response format', { response_format: 'b64_json' }, 'response_format'],
    ['a style', { style: 'vivid' }, 'style'],
    ['an unknown member', { layer_decomposition: true }, 'layer_decomposition'],
    ['a reference', { image: 'https://a.invalid/b' }, 'image'],
    ['a fidelity', { input_fidelity: 'high' }, 'input_fidelity'],
    ['no pictures', { n: 0 }, 'n'],
    ['too many', { n: 11 }, 'n'],
    ['half a picture', { n: 1.5 }, 'n'],
    ['another size', { size: '512x512' }, 'size'],
    ['another quality', { quality: 'hd' }, 'quality'],
    ['another background', { background: 'red' }, 'background'],
    ['another type', { output_format: 'gif' }, 'output_format'],
    ['a transparent JPEG', { background: 'transparent', output_format: 'jpeg' }, 'background'],
    ['a compressed PNG', { output_compression: 50 }, 'output_compression'],
    [
      'too much compression',
      { output_compression: 101, output_format: 'webp' },
      'output_compression',
    ],
    ['another moderation', { moderation: 'high' }, 'moderation'],
    ['a stream in words', { stream: 'true' }, 'stream'],
    ['too many partial pictures', { stream: true, partial_images: 4 }, 'partial_images'],
    ['a user that is not text', { user: 7 }, 'user'],
    [
      'a transparent one of the newest',
      { model: 'gpt-image-2', background: 'transparent' },
      'background',
    ],
    ['a size of odd pixels', { model: 'gpt-image-2', size: '1000x1000' }, 'size'],
    ['a size that is too flat', { model: 'gpt-image-2', size: '3200x160' }, 'size'],
    ['a size that is too large', { model: 'gpt-image-2', size: '4096x4096' }, 'size'],
    ['a quality of dall-e-2', { model: 'dall-e-2', quality: 'standard' }, 'quality'],
    ['two of dall-e-3', { model: 'dall-e-3', n: 2 }, 'n'],
    ['another size of dall-e-2', { model: 'dall-e-2', size: '1536x1024' }, 'size'],
    ['another size of the demo model', { model: 'demo-image', size: '5K' }, 'size'],
    ['an unknown member of the demo model', { model: 'demo-image', seed: 1 }, 'seed'],
    ['17 references', { model: 'demo-image', image: Array(17).fill('https://a.b/c') }, 'image'],
    ['a reference in words', { model: 'demo-image', image: 'a cat' }, 'image'],
    [
      'a stream with references',
      { model: 'demo-image', image: 'https://a.b/c', stream: true },
      'stream',
    ],
  ])('%s', async (_, changes, param) => {
    const { status, json } = await draw({ ...gpt, ...changes });
    expect(status).toBe(400);
    expect(json.error.type).toBe('invalid_request_error');
    expect(String(json.error.param)).toBe(param);
  });

  test('nothing that is null', async () => {
    expect((await draw({ ...gpt, size: null, quality: null, n: null, user: null })).status).toBe(
      200,
    );
  });

  test.each(['512x1536', '3840x2160', '1024x1024', 'auto'])('of the newest no %s', async (size) => {
    expect((await draw({ model: 'gpt-image-2', size })).status).toBe(200);
  });

  test.each([
    ['gpt-image-1', 'moderation_blocked'],
    ['dall-e-3', 'content_policy_violation'],
  ])('what the filter of %s stops', async (model, code) => {
    const { status, json } = await draw({ model, prompt: 'refuse prompt' });
    expect([status, json.error.code]).toEqual([400, code]);
  });

  test('a request without a credential, and a missing model', async () => {
    expect((await draw({}, { authorization: '' })).status).toBe(401);
    expect((await draw({ model: 'missing-image' })).status).toBe(404);
  });
});

describe('a fault', () => {
  test('of the usage', async () => {
    const usageWith = async (text: string) => (await draw(gpt, fault(text))).json.usage;
    expect(await usageWith('usage=missing')).toBeUndefined();
    expect(await usageWith('usage=zero')).toMatchObject({ input_tokens: 0, output_tokens: 0 });
    expect(await usageWith('usage=absurd')).toMatchObject({ output_tokens: 1e15 });
    expect(await usageWith('usage=negative')).toMatchObject({ total_tokens: -7 });
    expect(await usageWith('input-images=9')).toMatchObject({ input_images: 9 });
  });

  test('of the size', async () => {
    const { json } = await draw({}, fault('size=missing'));
    expect(json).not.toHaveProperty('size');
    expect(json.data[0]).not.toHaveProperty('size');
    const { json: above } = await draw(gpt, fault('size=9000x9000'));
    expect(above.size).toBe('9000x9000');
    expect(headOf(above.data[0])).toMatchObject({ width: 9000, height: 9000 });
  });

  test('makes pictures of 10 MB', async () => {
    const { json } = await draw({}, fault('picture-bytes=10000000'));
    const bytes = Buffer.from(json.data[0].b64_json, 'base64');
    expect(bytes.length).toBe(10_000_000);
    expect(readImage(bytes)).toMatchObject({ width: 1024 });
  });

  test('makes addresses slow or broken', async () => {
    const { json } = await draw({ response_format: 'url' }, fault('url-status=503;url-delay=50'));
    expect(json.data[0].url).toContain('/fault(status=503;delay=50)/pictures/');
    expect((await fetch(json.data[0].url)).status).toBe(503);
  });

  test('cuts the body, and delays it', async () => {
    const cut = await askRaw(simulator, 'images', {}, fault('cut-at=1'));
    expect(cut.complete).toBe(false);
    expect(cut.body.length).toBeGreaterThan(100);
    const slow = await askRaw(simulator, 'images', {}, fault('delay=60'));
    expect(slow.headAt).toBeGreaterThan(50);
  });

  test('falls silent in a stream', async () => {
    const changes = { stream: true, partial_images: 1 };
    const silent = await askRaw(simulator, 'images', changes, fault('stall-at=1'), 300);
    expect(silent.body.toString()).toContain('partial_image');
    expect(silent.body.toString()).not.toContain('completed');
    expect(silent.complete).toBe(false);
  });

  test('is an error event in a stream', async () => {
    const changes = { partial_images: 1 };
    const { events } = await askStream(simulator, 'images', changes, fault('error-at=1'));
    expect(events[1].error.type).toBe('server_error');
  });

  test.each(['size=1', 'size=0x5', 'size=20000x5', 'size', 'picture-bytes=x'])(
    '%s is unknown',
    async (text) => {
      expect((await draw({}, fault(text))).status).toBe(400);
    },
  );
});

type Part = readonly [name: string, value: string | Buffer, filename?: string];

/** Sends a form. The name of a file decides its type. */
async function edit(parts: readonly Part[]) {
  const form = new FormData();
  for (const [name, value, filename] of parts) {
    if (typeof value === 'string') form.append(name, value);
    else {
      const type = filename?.endsWith('.png') ? 'image/png' : 'application/octet-stream';
      form.append(name, new Blob([new Uint8Array(value)], { type }), filename);
    }
  }
  const response = await fetch(`${simulator.url}/v1/images/edits`, {
    method: 'POST',
    headers: { authorization: 'Bearer key' },
    body: form,
  });
  return { status: response.status, json: (await response.json()) as Json };
}
