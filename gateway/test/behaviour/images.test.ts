import { createPicture } from 'simulator';
import { describe, expect, test } from 'vitest';
import { testKey } from '../support/gateway.ts';
import { attemptsOf, closedPort, openGateway, rowOf, shareGateway, until } from './support.ts';

const narrow = 'sk-narrow-0123456789abcdefghijklmnopqrstuv';

const price =
  'price: { image_tiers: [{ name: 1K, max_pixels: 2610000, price: 0.04 }, { name: 4K, max_pixels: 20000000, price: 0.08 }], reference_image: 0, layer_factor: 0.5 }';

interface Sketch {
  readonly name: string;
  readonly at?: string;
  readonly models?: string;
  readonly upstream?: string;
  readonly more?: string;
}

const channel = ({
  name,
  at = 'SIMULATOR',
  models = name,
  upstream = 'demo-image',
  more = '',
}: Sketch) =>
  `  - { name: ${name}, provider: simulator, base_url: "${at}", models: [{ name: ${models}, upstream: ${upstream} }]${more} }`;

const fault = (text: string): string => `SIMULATOR/fault(${text})`;

/** After these nothing was made, so a spare channel is asked. */
const harmless: Readonly<Record<string, string>> = {
  dead: `http://127.0.0.1:${await closedPort()}`,
  unknown: fault('status=401'),
  unpaid: fault('status=402'),
  forbidden: fault('status=403'),
  missing: fault('status=404'),
  limited: fault('status=429'),
  busy: fault('status=503'),
  overloaded: fault('status=529'),
};

/** After these something may have been made. */
const harmful: Readonly<Record<string, string>> = {
  failing: fault('status=500'),
  'bad-gateway': fault('status=502'),
  'gateway-time-out': fault('status=504'),
  garbled: fault('garbage'),
  paged: fault('html'),
  silent: fault('empty'),
  resetting: fault('refuse'),
  cutting: fault('cut-at=1'),
  closing: fault('close-at=1'),
  stalling: fault('stall'),
};

const models: Readonly<Record<string, string>> = {
  pictures: 'edits, streaming, multi_reference',
  plain: 'edits',
  bare: '',
  layered: 'layers',
  seedream: 'edits, layers',
  servant: 'edits',
  asleep: '',
  ...Object.fromEntries([...Object.keys(harmless), ...Object.keys(harmful)].map((id) => [id, ''])),
};

const shared = shareGateway({
  config: `
timeouts: { image_first_byte: 1500ms }
channels:
${['pictures', 'plain', 'bare', 'asleep'].map((name) => channel({ name })).join('\n')}
${channel({ name: 'layered', upstream: 'demo-layers' })}
${[...Object.entries(harmless), ...Object.entries(harmful)]
  .flatMap(([name, at]) => [
    channel({ name, at, more: ', priority: 9' }),
    channel({ name: `spare-of-${name}`, models: name }),
  ])
  .join('\n')}
  - { name: ark, provider: ark, base_url: "SIMULATOR/api/v3", protocols: [images], api_keys: [any], models: [{ name: seedream, upstream: doubao-seedream-5-0-pro-260628 }] }
  - { name: servant, provider: openai-compatible, base_url: "SIMULATOR/v1", protocols: [images], api_keys: [any], models: [{ name: servant, upstream: demo-image }] }
  - { name: talks, provider: simulator, base_url: SIMULATOR, models: [demo-chat] }
models:
${Object.entries(models)
  .map(
    ([id, can]) =>
      `  - { id: ${id}, type: image, capabilities: [${can}], enabled: ${id !== 'asleep'}, ${price} }`,
  )
  .join('\n')}
aliases: { other-name: pictures }
users:
  - { email: tester@example.com, balance: 100 }
keys:
  - { name: test, user: tester@example.com, secret: ${testKey} }
  - { name: narrow, user: tester@example.com, secret: ${narrow}, models: [demo-chat] }
`,
});

const generations = '/v1/images/generations';
const edits = '/v1/images/edits';

interface Said {
  readonly error?: { message: string; type: string; param: string | null; code: string | null };
  readonly data?: Record<string, unknown>[];
}

async function send(path: string, body: unknown, headers: Record<string, string> = {}) {
  const { gateway } = shared;
  gateway.simulator.clear();
  const response = await (body instanceof FormData
    ? fetch(gateway.url + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${testKey}`, ...headers },
        body,
      })
    : gateway.post(path, body, headers));
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    id: response.headers.get('x-request-id') ?? '',
    text,
    json: JSON.parse(text) as Said,
    upstream: gateway.simulator.requests(),
  };
}

const png = createPicture({ type: 'png', width: 64, height: 64 });
const uri = `data:image/png;base64,${png.toString('base64')}`;
const good = { model: 'pictures', prompt: 'a house', size: '256x256' };

type Part = readonly [name: string, value: string | Buffer, file?: string];

function formOf(...parts: readonly Part[]): FormData {
  const form = new FormData();
  for (const [name, value, file = 'a.png'] of parts) {
    if (typeof value === 'string') form.append(name, value);
    else form.append(name, new Blob([new Uint8Array(value)], { type: 'image/png' }), file);
  }
  return form;
}

const edit = (...parts: readonly Part[]): FormData =>
  formOf(['prompt', 'a house'], ...parts, ['model', 'pictures']);

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
    [
      'an edit',
      edits,
      formOf(['prompt', 'a'], ['model', 'bare'], ['image', png]),
      400,
      /edit/,
      'model',
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
    const other = createPicture({ type: 'png', width: 64, height: 64, seed: 2 });
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
    const large = createPicture({ type: 'png', width: 64, height: 64, bytes: 3_000_000 });
    const { status, upstream } = await send(edits, edit(['image', large], ['size', '256x256']));
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

describe('a request is sent to a second channel', () => {
  test.each(Object.keys(harmless))('if nothing was made: %s', async (model) => {
    const { status, id } = await send(generations, { ...good, model });
    expect(status).toBe(200);
    const attempts = attemptsOf(await rowOf(shared.gateway, id));
    expect(attempts.at(-1)).toMatchObject({ channel: `spare-of-${model}`, result: 'completed' });
  });

  test.each(Object.keys(harmful))('never if something may have been made: %s', async (model) => {
    const { status, id, json } = await send(generations, { ...good, model });
    expect(status).toBe(502);
    expect(json.error?.message).toBe('upstream response abnormal');
    const row = await rowOf(shared.gateway, id);
    expect(row).toMatchObject({ outcome: 'failed', cost: null });
    expect(attemptsOf(await rowOf(shared.gateway, id))).toHaveLength(1);
  });
});

describe('a client that leaves', () => {
  test.each([
    ['its place', 'in_flight: 1, queue: 0, key_concurrency: 5', '', 503],
    ['that of its key', 'in_flight: 9', ', max_concurrency: 1', 429],
  ])('pays for what is made, and keeps %s until then', async (_, limits, ofKey, status) => {
    const gateway = await openGateway({
      config: `
limits: { ${limits} }
channels:
${channel({ name: 'slow', at: fault('delay=1500') })}
models:
  - { id: slow, type: image, ${price} }
users: [{ email: tester@example.com, balance: 100 }]
keys: [{ name: test, user: tester@example.com, secret: ${testKey}${ofKey} }]
`,
    });
    const leaving = new AbortController();
    const body = JSON.stringify({ model: 'slow', prompt: 'a house', size: '256x256' });
    const headers = { authorization: `Bearer ${testKey}`, 'content-type': 'application/json' };
    const asked = fetch(gateway.url + generations, {
      method: 'POST',
      headers,
      body,
      signal: leaving.signal,
    });
    await until(() => gateway.simulator.requests().length === 1, 'asked');
    leaving.abort();
    await expect(asked).rejects.toThrow('aborted');
    const meanwhile = await fetch(gateway.url + generations, { method: 'POST', headers, body });
    expect(meanwhile.status).toBe(status);
    await until(
      async () => (await gateway.usage()).some(({ outcome }) => outcome === 'completed'),
      'charged',
    );
    const row = (await gateway.usage()).find(({ outcome }) => outcome === 'completed');
    expect(row).toMatchObject({ cost: '0.04', units: { images: 1 } });
    const after = await fetch(gateway.url + generations, { method: 'POST', headers, body });
    expect(after.status).toBe(200);
  });
});

test('a client that has announced a short wait is served as long as it stays', async () => {
  const headers = { 'x-stainless-timeout': '1', 'x-simulator-fault': 'delay=1400' };
  const { status, id } = await send(generations, good, headers);
  expect(status).toBe(200);
  expect((await rowOf(shared.gateway, id)).cost).toBe('0.04');
});

test('the time to the first byte is that of pictures', async () => {
  const { status, id } = await send(generations, { ...good, model: 'stalling' });
  expect(status).toBe(502);
  const [attempt] = attemptsOf(await rowOf(shared.gateway, id));
  expect(attempt).toMatchObject({ class: 'uncertain', result: 'first-byte-timeout' });
});

test('there is no room for the response: 503 before anything is sent', async () => {
  const gateway = await openGateway({
    config: `
limits: { spool: 64MiB }
channels:
${channel({ name: 'slow', at: fault('delay=1000') })}
models:
  - { id: slow, type: image, ${price} }
users: [{ email: tester@example.com, balance: 100 }]
keys: [{ name: test, user: tester@example.com, secret: ${testKey} }]
`,
  });
  const body = { model: 'slow', prompt: 'a house', size: '256x256', n: 2 };
  const responses = await Promise.all(
    Array.from({ length: 4 }, () => gateway.post(generations, body)),
  );
  const statuses = responses.map(({ status }) => status);
  expect(statuses.filter((status) => status === 200).length).toBe(
    gateway.simulator.requests().length,
  );
  expect(statuses).toContain(503);
  expect(statuses).toContain(200);
});
