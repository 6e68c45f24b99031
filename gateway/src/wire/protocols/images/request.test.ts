import { describe, expect, test } from 'vitest';
import type { GatewayError } from '#errors/index.ts';
import { images } from './index.ts';

const everything = new Set(['edits', 'streaming', 'layers', 'multi_reference']);
const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
const inBase64 = png.toString('base64');
const dataUri = `data:image/png;base64,${inBase64}`;
const required = { model: 'm', prompt: 'a cat' };

const generate = (body: unknown, can: ReadonlySet<string> = everything) =>
  images.readRequest(images.openGeneration(Buffer.from(textOf(body))), can);
const edit = (body: unknown, can: ReadonlySet<string> = everything) =>
  images.readRequest(images.openEdit(Buffer.from(textOf(body)), 'application/json'), can);
const textOf = (body: unknown): string => (typeof body === 'string' ? body : JSON.stringify(body));

function refusal(run: () => unknown): Pick<GatewayError, 'errorName' | 'param' | 'message'> {
  try {
    run();
  } catch (error) {
    const { errorName, param, message } = error as GatewayError;
    return { errorName, param, message };
  }
  throw new Error('accepted');
}

describe('a generation', () => {
  test('is read', () => {
    const text =
      ' {"model":"m","prompt":"caf\u00e9", "n": 3,"stream":true,"service_tier":"priority"}';
    const { body, ...request } = generate(text);
    expect(body.toString()).toBe(text);
    expect(request).toMatchObject({
      form: 'generation',
      encoding: 'json',
      contentType: 'application/json',
      model: 'm',
      images: 3,
      stream: true,
      layers: false,
      sources: 0,
      promptBytes: 5,
      terms: ['service_tier.priority'],
    });
  });

  test.each([
    { n: 1 },
    { n: 10 },
    { n: null, size: null, quality: null, image: null, stream: null, layer_decomposition: null },
    ...['auto', '1024x1536', '1x1', '1K', '1.5K', '2K', '3K', '4K'].map((size) => ({ size })),
    ...['auto', 'low', 'medium', 'high', 'standard', 'hd'].map((quality) => ({ quality })),
    { background: 'transparent', output_format: 'webp' },
    { background: 'opaque', output_format: 'jpeg' },
    { moderation: 'low', response_format: 'b64_json', output_compression: 0, partial_images: 3 },
    { image: 'https://example.com/a.png' },
    { image: [dataUri, inBase64, 'http://example.com/b'] },
    { image: Array.from({ length: 16 }, () => dataUri) },
    { layer_decomposition: true, image: dataUri },
    { layer_decomposition: true, image: [dataUri], prompt: '' },
    { unknown: { of: ['any', 'shape'] }, user: 7, style: 'odd' },
  ])('may have %j', (members) => {
    expect(() => generate({ ...required, ...members })).not.toThrow();
  });

  test.each([
    [{ prompt: '' }, 'prompt'],
    [{ prompt: 5 }, 'prompt'],
    ...[0, 11, -1, 1.5, '1', true, 2 ** 31, 2 ** 53, 18446744073686646784, [1]].map(
      (n) => [{ n }, 'n'] as const,
    ),
    ...['1024', '1k', '5K', '0x10', '10x', 'x', '1024X1024', '-1x1', 1024, '1e3x1', ''].map(
      (size) => [{ size }, 'size'] as const,
    ),
    [{ quality: 'ultra' }, 'quality'],
    [{ quality: ['auto'] }, 'quality'],
    [{ background: 'red' }, 'background'],
    [{ background: 'transparent', output_format: 'jpeg' }, 'background'],
    [{ output_format: 'gif' }, 'output_format'],
    [{ moderation: 'none' }, 'moderation'],
    [{ response_format: 'file' }, 'response_format'],
    [{ output_compression: 101 }, 'output_compression'],
    [{ output_compression: 1.5 }, 'output_compression'],
    [{ partial_images: 4 }, 'partial_images'],
    [{ stream: 'true' }, 'stream'],
    [{ layer_decomposition: 1 }, 'layer_decomposition'],
    [{ image: '' }, 'image'],
    [{ image: [] }, 'image'],
    [{ image: 7 }, 'image'],
    [{ image: ['a cat'] }, 'image[0]'],
    [{ image: [dataUri, 'ftp://example.com/a'] }, 'image[1]'],
    [{ image: 'file:///etc/passwd' }, 'image'],
    [{ image: 'http://' }, 'image'],
    [{ image: 'http://127.0.0.1/a.png' }, 'image'],
    [{ image: [dataUri, 'http://169.254.169.254/latest/meta-data'] }, 'image[1]'],
    [{ image: 'https://localhost:8080/a.png' }, 'image'],
    [{ image: 'data:text/html;base64,AAAA' }, 'image'],
    [{ image: 'data:image/png;base64,' }, 'image'],
    [{ image: Buffer.from('a long text, not a picture').toString('base64') }, 'image'],
    [{ image: Array.from({ length: 17 }, () => dataUri) }, 'image'],
    [{ layer_decomposition: true }, 'image'],
    [{ layer_decomposition: true, image: [dataUri, dataUri] }, 'image'],
    [{ layer_decomposition: true, image: dataUri, stream: true }, 'stream'],
    [{ image: dataUri, stream: true }, 'stream'],
  ] as const)('must not have %j', (members, param) => {
    expect(refusal(() => generate({ ...required, ...members }))).toMatchObject({
      errorName: 'invalid_value',
      param,
    });
  });

  test.each([
    ['a model', { prompt: 'a', n: 0 }, 'model_required', 'model'],
    ['a prompt', { model: 'm', n: 0 }, 'missing_parameter', 'prompt'],
    ['null as prompt', { model: 'm', prompt: null }, 'missing_parameter', 'prompt'],
  ])('without %s is refused for that', (_, body, errorName, param) => {
    expect(refusal(() => generate(body))).toMatchObject({ errorName, param });
  });

  test.each([
    ['a list', '[]', 'invalid_body'],
    ['no JSON', '{"model":"m","prompt":nonsense}', 'invalid_body'],
    ['a member twice', '{"model":"m","n":1,"prompt":"a","n":9}', 'duplicate_key'],
    ['a member in another spelling', '{"model":"m","prompt":"a","N":9}', 'duplicate_key'],
  ])('that is %s is refused', (_, text, errorName) => {
    expect(refusal(() => generate(text))).toMatchObject({ errorName });
  });

  test.each([
    ['streaming', { stream: true }, 'stream'],
    ['layers', { layer_decomposition: true, image: dataUri }, 'layer_decomposition'],
    ['multi_reference', { image: dataUri }, 'image'],
  ])('needs a model with %s', (capability, members, param) => {
    const body = { ...required, ...members };
    const can = everything.difference(new Set([capability]));
    expect(refusal(() => generate(body, can))).toMatchObject({ errorName: 'invalid_value', param });
    expect(() => generate(body, new Set([capability]))).not.toThrow();
  });

  test.each([
    [{}, 15],
    [{ sequential_image_generation_options: { max_images: 4 } }, 4],
    [{ sequential_image_generation: 'disabled', n: 2 }, 2],
  ])('of a set asks for its pictures: %j', (members, expected) => {
    const body = { ...required, sequential_image_generation: 'auto', ...members };
    expect(generate(body).images).toBe(expected);
  });

  test('of a set must not ask for fractions', () => {
    const options = { sequential_image_generation_options: { max_images: 0.5 } };
    const body = { ...required, sequential_image_generation: 'auto', ...options };
    expect(refusal(() => generate(body)).param).toContain('max_images');
  });

  test('with pictures of megabytes keeps their beginnings', () => {
    const image = Buffer.concat([png, Buffer.alloc(2_000_000)]).toString('base64');
    const { members, sources } = generate({ ...required, image: [image, image] });
    expect(sources).toBe(2);
    expect(JSON.stringify(members).length).toBeLessThan(20_000);
  });
});

describe('an edit in JSON', () => {
  const reference = { image_url: dataUri };

  test.each([
    [{ images: [reference] }, 1],
    [{ images: [{ url: 'https://example.com/a' }, { file_id: 'file-1' }], mask: reference }, 2],
    [{ image: [dataUri, dataUri, dataUri] }, 3],
    [{ image: dataUri, mask: dataUri, stream: true }, 1],
  ])('may have %j', (members, sources) => {
    expect(edit({ ...required, ...members })).toMatchObject({ form: 'edit', sources });
  });

  test.each([
    [{ images: [] }, 'images'],
    [{ images: dataUri }, 'images'],
    [{ images: [{}] }, 'images[0]'],
    [{ images: [reference, { image_url: dataUri, file_id: 'f' }] }, 'images[1]'],
    [{ images: [{ image_url: 'a cat' }] }, 'images[0].image_url'],
    [{ images: [{ file_id: 1 }] }, 'images[0].file_id'],
    [{ images: [reference], image: dataUri }, 'image'],
    [{ images: [reference], mask: {} }, 'mask'],
    [{ images: Array.from({ length: 17 }, () => reference) }, 'images'],
    [{ images: [reference], n: 11 }, 'n'],
  ])('must not have %j', (members, param) => {
    expect(refusal(() => edit({ ...required, ...members }))).toMatchObject({
      errorName: 'invalid_value',
      param,
    });
  });

  test('needs a picture and a model that edits', () => {
    expect(refusal(() => edit({ ...required, n: 0 }))).toMatchObject({
      errorName: 'missing_parameter',
      param: 'image',
    });
    expect(refusal(() => edit({ ...required, image: dataUri }, new Set()))).toMatchObject({
      errorName: 'invalid_value',
      param: 'model',
    });
  });
});

test('The upstream gets the body with nothing but the name of its model changed', () => {
  const text = '{ "prompt":"a","model" : "m","x":1.0,"n":2 }';
  const request = generate(text);
  expect(images.patchRequest(request, 'theirs').body.toString()).toBe(
    text.replace('"m"', '"theirs"'),
  );
  expect(images.patchRequest(request, 'm').body).toBe(request.body);
});
