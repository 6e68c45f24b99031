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
  uri,
  type FormPart,
} from './image-requests.ts';
import { rowOf, shareGateway } from './support.ts';

const narrow = 'sk-narrow-0123456789abcdefghijklmnopqrstuv';
const models = [
  { id: 'pictures', can: 'edits, streaming, multi_reference' },
  { id: 'plain', can: 'edits' },
  { id: 'bare' },
  { id: 'layered', can: 'layers' },
  { id: 'vain-layers', can: 'edits, multi_reference, layers, streaming' },
  { id: 'vain-references', can: 'multi_reference, streaming' },
  { id: 'asleep', enabled: false },
];

const shared = shareGateway({
  config: `
channels:
${models.map(({ id }) => imageChannel({ name: id })).join('\n')}
  - { name: talks, provider: simulator, base_url: SIMULATOR, models: [demo-chat] }
models:
${models.map(imageModel).join('\n')}
users:
  - { email: tester@example.com, balance: 100 }
keys:
  - { name: test, user: tester@example.com, secret: ${testKey} }
  - { name: narrow, user: tester@example.com, secret: ${narrow}, models: [demo-chat] }
`,
});

const send = (path: string, body: unknown, headers?: Record<string, string>) =>
  sendImages(shared.gateway, path, body, headers);

const good = { model: 'pictures', prompt: 'a house', size: '256x256' };
const edit = (...parts: readonly FormPart[]): FormData =>
  formOf(['prompt', 'a house'], ...parts, ['model', 'pictures']);

async function heldFor(id: string): Promise<bigint | null> {
  const { kysely } = shared.gateway.app.database;
  const query = kysely.selectFrom('usage').select('held').where('id', '=', id);
  return (await query.executeTakeFirstOrThrow()).held;
}

describe('a request that is refused reaches no upstream', () => {
  test.each<[string, string, unknown, number, RegExp, string | null]>([
    ['no JSON', generations, '{"model":"pictures"', 400, /^invalid request body/, null],
    ['no model', generations, { prompt: 'a' }, 400, /^model is required/, 'model'],
    ['no prompt', generations, { ...good, prompt: null }, 400, /^prompt is required/, 'prompt'],
    ['an empty prompt', generations, { ...good, prompt: '' }, 400, /prompt/, 'prompt'],
    ['n above 10', generations, { ...good, n: 11 }, 400, /^n must be/, 'n'],
    ['a size of words', generations, { ...good, size: 'big' }, 400, /^size must be/, 'size'],
    ['a quality', generations, { ...good, quality: 'best' }, 400, /^quality must be/, 'quality'],
    [
      'transparent JPEG',
      generations,
      { ...good, background: 'transparent', output_format: 'jpeg' },
      400,
      /^background cannot/,
      'background',
    ],
    [
      'two prompts',
      generations,
      '{"model":"pictures","prompt":"a","prompt":"b"}',
      400,
      /duplicate key 'prompt'/,
      'prompt',
    ],
    ['a reference', generations, { ...good, model: 'plain', image: uri }, 400, /^image: /, 'image'],
    [
      'layers',
      generations,
      { ...good, image: uri, layer_decomposition: true },
      400,
      /^layer_decomposition: /,
      'layer_decomposition',
    ],
    [
      'layers of two pictures',
      generations,
      { ...good, model: 'layered', image: [uri, uri], layer_decomposition: true },
      400,
      /^image must be/,
      'image',
    ],
    ['a stream', generations, { ...good, model: 'bare', stream: true }, 400, /^stream: /, 'stream'],
    ...['vain-layers', 'vain-references'].map(
      (model): [string, string, unknown, number, RegExp, string] => [
        `a stream of ${model}, whatever it declares`,
        generations,
        { ...good, model, stream: true },
        400,
        /^stream: model '.*' cannot stream pictures$/,
        'stream',
      ],
    ),
    [
      'an edit',
      edits,
      formOf(['prompt', 'a'], ['model', 'bare'], ['image', png]),
      400,
      /edit/,
      'model',
    ],
    [
      'a reference on this machine',
      generations,
      { ...good, image: [uri, 'http://127.0.0.1/a.png'] },
      400,
      /^image\[1\] must be a public http\(s\) URL/,
      'image[1]',
    ],
    [
      'an edit of a picture on a private network',
      edits,
      { ...good, images: [{ image_url: 'http://192.168.0.1/a.png' }] },
      400,
      /^images\[0\]\.image_url must be a public/,
      'images[0].image_url',
    ],
    ['no picture', edits, edit(), 400, /^image is required/, 'image'],
    ['an empty picture', edits, edit(['image', Buffer.alloc(0)]), 400, /image/, 'image'],
    ['text as a picture', edits, edit(['image', Buffer.from('hello')]), 400, /image/, 'image'],
    ['two masks', edits, edit(['image', png], ['mask', png], ['mask', png]), 400, /mask/, 'mask'],
    ['a prompt twice', edits, edit(['image', png], ['prompt', 'b']), 400, /prompt/, 'prompt'],
    [
      'an unknown model',
      generations,
      { ...good, model: 'nobody' },
      400,
      /^model 'nobody' is not available, please use a different model$/,
      'model',
    ],
    [
      'a chat model',
      generations,
      { ...good, model: 'demo-chat' },
      400,
      /^model 'demo-chat' is not available, please use a different model$/,
      'model',
    ],
    [
      'a disabled model',
      generations,
      { ...good, model: 'asleep' },
      403,
      /^model 'asleep' is not available$/,
      'model',
    ],
    [
      'a picture of messages',
      '/v1/messages',
      { model: 'pictures', max_tokens: 9, messages: [{ role: 'user', content: 'a' }] },
      400,
      /^model 'pictures' is not available, please use a different model$/,
      null,
    ],
    [
      'a picture of responses',
      '/v1/responses',
      { model: 'pictures', input: 'a' },
      400,
      /^model 'pictures' is not available, please use a different model$/,
      'model',
    ],
  ])('%s', async (_, path, body, status, message, param) => {
    const { upstream, ...response } = await send(path, body);
    expect(response.json.error?.message).toMatch(message);
    expect(response.status).toBe(status);
    if (param !== null) expect(response.json.error?.param).toBe(param);
    expect(upstream).toEqual([]);
    const row = await rowOf(shared.gateway, response.id);
    expect(row).toMatchObject({ outcome: 'refused', cost: null });
    expect(await heldFor(response.id)).toBeNull();
  });

  test('a form at the endpoint for generations', async () => {
    const { status, upstream } = await send(generations, edit(['image', png]));
    expect(status).toBe(415);
    expect(upstream).toEqual([]);
  });

  test('a form cut short, or without its boundary', async () => {
    const { gateway } = shared;
    const whole = '--b\r\ncontent-disposition: form-data; name="model"\r\n\r\npictures\r\n';
    for (const type of ['multipart/form-data; boundary=b', 'multipart/form-data']) {
      gateway.simulator.clear();
      const response = await gateway.post(edits, whole, { 'content-type': type });
      expect(response.status).toBe(400);
      expect(gateway.simulator.requests()).toEqual([]);
    }
  });

  test('a key that may not use the model', async () => {
    const { status } = await send(generations, good, { authorization: `Bearer ${narrow}` });
    expect(status).toBe(403);
  });
});
