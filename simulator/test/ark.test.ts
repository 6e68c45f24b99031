import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createImage, startSimulator, type Simulator } from '../src/index.ts';
import { readImage } from '../src/image-files/read-image.ts';
import { ask, askStream, type Json } from './client.ts';

let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator();
});
afterAll(() => simulator.close());

const draw = (changes: Record<string, unknown> = {}, headers = {}) =>
  ask(simulator, 'ark', changes, headers);
const pro = { model: 'seedream-5-0-pro-260628' };
const image = createImage({ type: 'png', width: 1200, height: 900 }).toString('base64');
const data = `data:image/png;base64,${image}`;
const clear = createImage({ type: 'png', width: 9, height: 9, transparent: true });
const set = (most?: number) => ({
  sequential_image_generation: 'auto',
  ...(most !== undefined && { sequential_image_generation_options: { max_images: most } }),
});

test('one picture is an address by default', async () => {
  const { status, json } = await draw();
  expect(status).toBe(200);
  expect(json).toEqual({
    model: 'seedream-4-5-251128',
    created: 1_790_000_000,
    data: [{ url: expect.any(String), size: '2048x2048' }],
    usage: { generated_images: 1, output_tokens: 16_384, total_tokens: 16_384 },
  });
  const bytes = Buffer.from(await (await fetch(json.data[0].url)).arrayBuffer());
  expect(readImage(bytes)).toMatchObject({ type: 'jpeg', width: 2048, height: 2048 });
});

test('a model of Ark has its forms at the path of OpenAI too', async () => {
  const { json } = await ask(simulator, 'images', {
    model: 'demo-layers',
    response_format: 'b64_json',
  });
  expect(Object.keys(json.data[0])).toEqual(['b64_json', 'size', 'output_format']);
  const refused = await ask(simulator, 'images', { model: 'demo-layers', stream: true });
  expect(refused.json.error).toMatchObject({ code: 'InvalidParameter', param: 'stream' });
});

test('sizes have names', async () => {
  const sizeOf = async (size: string, model = pro.model) =>
    (await draw({ model, size })).json.data[0].size;
  expect(await sizeOf('1K')).toBe('1024x1024');
  expect(await sizeOf('1.5K')).toBe('1536x1536');
  expect(await sizeOf('1760x2368')).toBe('1760x2368');
  expect(await sizeOf('4K', 'seedream-4-0-250828')).toBe('4096x4096');
});

test('a decomposition is a base and its layers', async () => {
  const { json } = await draw({
    ...pro,
    prompt: '16 layers, sizes 2048x2048 1000x265',
    image: data,
    layer_decomposition: true,
  });
  expect(json.data).toHaveLength(17);
  expect(json.data[0]).toEqual({
    url: expect.any(String),
    size: '2048x2048',
    output_format: 'jpeg',
    z_index: 0,
  });
  expect(json.data[16]).toEqual({
    url: expect.stringMatching(/\.png$/),
    size: '1000x265',
    output_format: 'png',
    z_index: 16,
    bounding_box: { absolute: [0, 407, 1000, 672], normalized: [0, 199, 488, 328] },
    name: 'Layer 16',
    description: 'Layer 16 of the demo picture',
  });
  expect(json.usage).toEqual({
    input_images: 1,
    generated_images: 17,
    output_tokens: 16_384 + 16 * 1036,
    total_tokens: 16_384 + 16 * 1036,
  });
});

test('a decomposition needs no prompt, and can have the size of its source', async () => {
  const { json } = await draw({
    model: 'demo-layers',
    prompt: undefined,
    image: [data],
    layer_decomposition: true,
    size: 'auto',
  });
  expect(json.data.map(({ size }: Json) => size)).toEqual([
    '1200x900',
    ...Array(3).fill('600x113'),
  ]);
});

test('a decomposition fails as a whole', async () => {
  const { status, json } = await draw({
    ...pro,
    prompt: 'fail picture 2',
    image: data,
    layer_decomposition: true,
  });
  expect([status, json.error.code]).toEqual([400, 'OutputImageSensitiveContentDetected']);
});

describe('a set', () => {
  test.each<[string, Record<string, unknown>, number]>([
    ['by default', set(), 4],
    ['with a limit', set(7), 7],
    ['named in the prompt', { ...set(7), prompt: 'draw 2 pictures' }, 2],
    ['limited although more are named', { ...set(3), prompt: 'draw 9 pictures' }, 3],
    ['limited by its references', { ...set(15), image: Array(5).fill(data) }, 10],
    ['switched off', { sequential_image_generation: 'disabled' }, 1],
  ])('%s has its number of pictures', async (_, changes, count) => {
    const { json } = await draw(changes);
    expect(json.data).toHaveLength(count);
    expect(json.usage.generated_images).toBe(count);
  });

  test('has failures beside pictures, which are not counted', async () => {
    const prompt = 'fail picture 2, sizes 1500x1740 1x1 1500x1741';
    const { json } = await draw({ ...set(3), prompt });
    expect(json.data.map(({ size, error }: Json) => size ?? error.code)).toEqual([
      '1500x1740',
      'OutputImageSensitiveContentDetected',
      '1500x1741',
    ]);
    expect(json.usage).toMatchObject({ generated_images: 2 });
  });

  test.each(['fail all', 'please refuse'])('is an error if all fail: %s', async (prompt) => {
    const { status, json } = await draw({ ...set(3), prompt });
    expect([status, json.error.code]).toEqual([400, 'OutputImageSensitiveContentDetected']);
  });

  test('streams each picture, then the usage', async () => {
    const { text, events } = await askStream(simulator, 'ark', {
      ...set(3),
      prompt: 'fail picture 2',
    });
    expect(events.map(({ type, image_index: index }) => [type, index])).toEqual([
      ['image_generation.partial_succeeded', 0],
      ['image_generation.partial_failed', 1],
      ['image_generation.partial_succeeded', 2],
      ['image_generation.completed', undefined],
    ]);
    expect(events[0]).toMatchObject({ model: 'seedream-4-5-251128', size: '2048x2048' });
    expect(events[1].error.code).toBe('OutputImageSensitiveContentDetected');
    expect(events[3]).toEqual({
      type: 'image_generation.completed',
      model: 'seedream-4-5-251128',
      created: 1_790_000_000,
      usage: { generated_images: 2, output_tokens: 32_768, total_tokens: 32_768 },
    });
    expect(text).toContain('event: image_generation.partial_failed\n');
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
  });

  test('streams its failures if all fail', async () => {
    const { events } = await askStream(simulator, 'ark', { ...set(2), prompt: 'fail all' });
    expect(events.map(({ type }) => type.split('.')[1])).toEqual([
      'partial_failed',
      'partial_failed',
      'completed',
    ]);
  });
});

test('references are counted', async () => {
  const { json } = await draw({ image: [data, 'https://a.invalid/b', data] });
  expect(json.usage.input_images).toBe(3);
  const bare = await draw({ model: 'demo-layers', image });
  expect(bare.json.usage.input_images).toBe(1);
});

test('unknown members pass, and n means nothing', async () => {
  const { json } = await draw({
    n: 4,
    unknown: true,
    watermark: false,
    tools: [{ type: 'web_search' }],
  });
  expect(json.data).toHaveLength(1);
});

describe('Ark refuses', () => {
  test.each<[string, Record<string, unknown>, string]>([
    ['no prompt', { prompt: undefined }, 'prompt'],
    ['another size', { size: '5K' }, 'size'],
    ['a size of another model', { ...pro, size: '4K' }, 'size'],
    ['an automatic size', { size: 'auto' }, 'size'],
    ['another background', { background: 'red' }, 'background'],
    ['another type', { output_format: 'webp' }, 'output_format'],
    ['another response format', { response_format: 'base64' }, 'response_format'],
    ['a stream of Pro', { ...pro, stream: true }, 'stream'],
    ['a set of Pro', { ...pro, ...set() }, 'sequential_image_generation'],
    ['an empty set', set(0), 'sequential_image_generation_options.max_images'],
    ['a set that is too large', set(16), 'sequential_image_generation_options.max_images'],
    ['a seed', { seed: 1 }, 'seed'],
    ['layers without a picture', { ...pro, layer_decomposition: true }, 'image'],
    ['layers of two', { ...pro, layer_decomposition: true, image: [data, data] }, 'image'],
    ['layers of another model', { layer_decomposition: true, image: data }, 'layer_decomposition'],
    [
      'layers with a background',
      { ...pro, layer_decomposition: true, image: data, background: 'opaque' },
      'background',
    ],
    ['layers in words', { ...pro, layer_decomposition: 'yes', image: data }, 'layer_decomposition'],
    ['eleven references of Pro', { ...pro, image: Array(11).fill(data) }, 'image'],
    ['fifteen references', { image: Array(15).fill(data) }, 'image'],
    ['an empty list', { image: [] }, 'image'],
    ['a type in upper case', { image: data.replace('png', 'PNG') }, 'image'],
    ['bare Base64', { image }, 'image'],
    ['text', { image: 'data:image/png;base64,YWJj' }, 'image'],
    ['a transparent background of a text', { background: 'transparent' }, 'background'],
    [
      'a transparent background of an opaque PNG',
      { background: 'transparent', image: data },
      'background',
    ],
    ['another tool', { tools: [{ type: 'function' }] }, 'tools'],
  ])('%s', async (_, changes, param) => {
    for (const stream of changes['stream'] === undefined && !changes['model']
      ? [false, true]
      : [undefined]) {
      const { status, json } = await draw({ ...(stream !== undefined && { stream }), ...changes });
      expect(status).toBe(400);
      expect(json.error.param).toBe(param);
      expect(json.error.message).toContain('Request id: ');
    }
  });

  test('not a transparent background of a transparent PNG', async () => {
    const image = `data:image/png;base64,${clear.toString('base64')}`;
    const { json } = await draw({ background: 'transparent', image });
    expect(json.data[0].url).toMatch(/-transparent\.png$/);
  });

  test('edits, a filtered prompt, an unknown model and a wrong key', async () => {
    expect((await ask(simulator, 'edits', pro)).status).toBe(404);
    const filtered = await draw({ prompt: 'refuse prompt' });
    expect(filtered.json.error.code).toBe('InputTextSensitiveContentDetected');
    expect((await draw({ model: 'missing-seedream' })).status).toBe(404);
    const denied = await draw({}, { authorization: 'Bearer invalid' });
    expect([denied.status, denied.json.error.code]).toEqual([401, 'AuthenticationError']);
  });
});

test('faults have the form of Ark', async () => {
  const fault = (text: string) => ({ 'x-simulator-fault': text });
  expect((await draw({}, fault('status=429'))).json.error.type).toBe('TooManyRequests');
  expect((await draw({}, fault('usage=missing'))).json).not.toHaveProperty('usage');
  expect((await draw({}, fault('usage=zero'))).json.usage.output_tokens).toBe(0);
  expect((await draw({}, fault('input-images=2'))).json.usage.input_images).toBe(2);
  expect((await draw({}, fault('size=missing'))).json.data[0]).not.toHaveProperty('size');
  expect((await draw({}, fault('size=8000x8000'))).json.data[0].size).toBe('8000x8000');
  const { url } = (await draw({}, fault('picture-bytes=10000000'))).json.data[0];
  expect((await (await fetch(url)).arrayBuffer()).byteLength).toBe(10_000_000);
  const layered = { ...pro, image: data, layer_decomposition: true };
  const flat = await draw(layered, fault('no-z-index'));
  expect(flat.json.data.map((entry: Json) => 'z_index' in entry)).toEqual(Array(4).fill(false));
  const { text } = await askStream(simulator, 'ark', {}, fault('no-done'));
  expect(text).not.toContain('[DONE]');
});
