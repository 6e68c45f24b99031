import { createImage } from 'simulator';
import { describe, expect, test } from 'vitest';
import { testKey } from '../support/gateway.ts';
import {
  edits,
  formOf,
  generations,
  imageChannel,
  imageModel,
  png,
  sendImages,
  tester,
  uri,
} from './image-requests.ts';
import { rowOf, shareGateway } from './support.ts';

const models = [
  { id: 'pictures', can: 'edits, streaming, multi_reference' },
  { id: 'layered', can: 'layers' },
  { id: 'seedream', can: 'edits, layers' },
  { id: 'servant', can: 'edits' },
];

const shared = shareGateway({
  config: `
channels:
${imageChannel({ name: 'pictures' })}
${imageChannel({ name: 'layered', upstream: 'demo-layers' })}
  - { name: ark, provider: ark, base_url: "SIMULATOR/api/v3", protocols: [images], api_keys: [any], models: [{ name: seedream, upstream: doubao-seedream-5-0-pro-260628 }] }
  - { name: servant, provider: openai-compatible, base_url: "SIMULATOR/v1", protocols: [images], api_keys: [any], models: [{ name: servant, upstream: demo-image }] }
models:
${models.map(imageModel).join('\n')}
aliases: { other-name: pictures }
${tester}
`,
});

const send = (path: string, body: unknown, headers?: Record<string, string>) =>
  sendImages(shared.gateway, path, body, headers);

const good = { model: 'pictures', prompt: 'a house', size: '256x256' };

describe('what the upstream gets and says', () => {
  test('every byte but those of the name', async () => {
    const body =
      '{ "prompt":"a\\u0020house", "model" : "other-name","size":"256x256", "user": "u", "n": 1 }';
    const { status, upstream } = await send(generations, body);
    expect(status).toBe(200);
    const [asked] = upstream;
    expect(asked?.path).toBe('/v1/images/generations');
    expect(asked?.body).toBe(body.replace('other-name', 'demo-image'));
    expect(asked?.headers).toContainEqual(['content-type', 'application/json']);
    // Nothing else is sent on this connection.
    expect(asked?.headers).toContainEqual(['connection', 'close']);
  });

  test('the response as the upstream gave it', async () => {
    const { json, headers, id } = await send(generations, { ...good, n: 2 });
    expect(headers.get('content-type')).toBe('application/json');
    expect(json.data).toHaveLength(2);
    expect(json.data?.[0]).toMatchObject({ size: '256x256' });
    expect(Buffer.from(json.data?.[0]?.['b64_json'] as string, 'base64').subarray(1, 4)).toEqual(
      Buffer.from('PNG'),
    );
    const row = await rowOf(shared.gateway, id);
    expect(row).toMatchObject({
      model: 'pictures',
      channel: 'pictures',
      protocol: 'images',
      outcome: 'completed',
      units: { images: 2 },
    });
  });

  test('the layers of a picture with all that is said of them', async () => {
    const body = { model: 'layered', image: uri, layer_decomposition: true };
    const { json } = await send(generations, body);
    expect(json.data?.[1]).toMatchObject({
      z_index: 1,
      bounding_box: {},
      name: expect.any(String) as string,
      description: expect.any(String) as string,
      output_format: 'png',
    });
  });

  test('a form with its files, their names, types and order', async () => {
    const other = createImage({ type: 'png', width: 64, height: 64, seed: 2 });
    const form = formOf(
      ['image[]', png, 'größe.png'],
      ['prompt', 'a house'],
      ['image[]', other, 'b.png'],
      ['size', '256x256'],
      ['n', '2'],
      ['model', 'other-name'],
    );
    const { status, upstream, json, id } = await send(edits, form);
    expect(status).toBe(200);
    expect(json.data).toHaveLength(2);
    const [asked] = upstream;
    expect(asked?.path).toBe('/v1/images/edits');
    expect(asked?.form?.map(({ name, filename }) => [name, filename])).toEqual([
      ['image[]', 'größe.png'],
      ['prompt', null],
      ['image[]', 'b.png'],
      ['size', null],
      ['n', null],
      ['model', null],
    ]);
    expect((await rowOf(shared.gateway, id)).units).toMatchObject({
      images: 2,
      reference_images: 2,
    });
  });

  test('an edit in JSON', async () => {
    const body = { ...good, images: [{ image_url: uri }] };
    const { status, upstream } = await send(edits, body);
    expect(status).toBe(200);
    expect(upstream[0]?.json).toMatchObject({ model: 'demo-image', images: [{ image_url: uri }] });
  });

  test('an edit of megabytes, read in a thread', async () => {
    const large = createImage({ type: 'png', width: 64, height: 64, bytes: 3_000_000 });
    const { status, upstream } = await send(
      edits,
      formOf(['prompt', 'a house'], ['image', large], ['size', '256x256'], ['model', 'pictures']),
    );
    expect(status).toBe(200);
    expect(upstream[0]?.form?.map(({ name }) => name)).toEqual([
      'prompt',
      'image',
      'size',
      'model',
    ]);
    const long = { ...good, image: `data:image/png;base64,${large.toString('base64')}` };
    expect((await send(generations, long)).status).toBe(200);
    const refused = await send(generations, { ...long, n: 11 });
    expect(refused.json.error).toMatchObject({ param: 'n' });
  });

  test('a response of megabytes, read in a thread', async () => {
    const headers = { 'x-simulator-fault': 'picture-bytes=3000000' };
    const { status, text, id } = await send(generations, good, headers);
    expect(status).toBe(200);
    expect(text.length).toBeGreaterThan(4_000_000);
    expect((await rowOf(shared.gateway, id)).units).toMatchObject({ images: 1 });
  });
});

describe('other vendors', () => {
  test('a compatible server gets generations and edits', async () => {
    const body = { ...good, model: 'servant' };
    expect((await send(generations, body)).upstream[0]?.path).toBe('/v1/images/generations');
    const form = formOf(['prompt', 'a'], ['image', png], ['model', 'servant']);
    const { status, upstream } = await send(edits, form);
    expect([status, upstream[0]?.path]).toEqual([200, '/v1/images/edits']);
  });

  test('Ark gets generations', async () => {
    const body = { model: 'seedream', prompt: '2 layers', image: uri, layer_decomposition: true };
    const { status, upstream, json } = await send(generations, body);
    expect([status, upstream[0]?.path]).toEqual([200, '/api/v3/images/generations']);
    expect(json.data?.map((each) => each['z_index'])).toEqual([0, 1, 2]);
  });

  test('Ark refuses in words of the gateway', async () => {
    const { json } = await send(generations, { ...good, model: 'seedream', prompt: 'refuse' });
    expect(json.error).toMatchObject({ code: 'content_policy_violation' });
    expect(json.error?.message).not.toContain('CANARY');
  });

  test('Ark gets edits as generations, with the pictures as data URIs', async () => {
    const form = formOf(
      ['prompt', 'a house'],
      ['image', png],
      ['size', '2048x2048'],
      ['n', '1'],
      ['watermark', 'false'],
      ['user', '7'],
      ['model', 'seedream'],
    );
    const { status, upstream } = await send(edits, form);
    expect([status, upstream[0]?.path]).toEqual([200, '/api/v3/images/generations']);
    expect(upstream[0]?.json).toEqual({
      model: 'doubao-seedream-5-0-pro-260628',
      size: '2048x2048',
      n: 1,
      watermark: false,
      user: '7',
      prompt: 'a house',
      image: uri,
    });
    const json = { model: 'seedream', prompt: 'a', images: [{ image_url: uri }, { url: uri }] };
    const { upstream: asked, status: second, id } = await send(edits, json);
    expect(second).toBe(200);
    expect(asked[0]?.json).toMatchObject({ prompt: 'a', image: [uri, uri] });
    expect((await rowOf(shared.gateway, id)).units).toMatchObject({ reference_images: 2 });
  });

  test.each([
    ['mask', { images: [{ image_url: uri }], mask: { image_url: uri } }, 'mask'],
    ['id of a file', { images: [{ file_id: 'file-1' }] }, 'image'],
  ])('Ark gets no %s', async (_, more, param) => {
    const body = { model: 'seedream', prompt: 'a', ...more };
    const { status, upstream, json, id } = await send(edits, body);
    expect([status, upstream, json.error?.param]).toEqual([400, [], param]);
    expect(await rowOf(shared.gateway, id)).toMatchObject({ outcome: 'refused', cost: null });
  });
});

test('model lists say what a model can do', async () => {
  const { gateway } = shared;
  const response = await fetch(`${gateway.url}/v1/models`, {
    headers: { authorization: `Bearer ${testKey}` },
  });
  const { data } = (await response.json()) as {
    data: { id: string; model_capabilities: string[] }[];
  };
  const can = (id: string) => data.find((each) => each.id === id)?.model_capabilities.toSorted();
  expect(can('pictures')).toEqual(['edits', 'multi_reference', 'streaming']);
  expect(can('layered')).toEqual(['layers']);
});
