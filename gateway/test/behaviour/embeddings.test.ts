import { describe, expect, test } from 'vitest';
import { testKey } from '../support/gateway.ts';
import { attemptsOf, closedPort, openGateway, rowOf, shareGateway } from './support.ts';
import { textProtocols } from './text-protocols.ts';

const narrow = 'sk-narrow-0123456789abcdefghijklmnopqrstuv';
const slow = 'sk-slow-0123456789abcdefghijklmnopqrstuvwx';

interface Sketch {
  readonly name: string;
  readonly at?: string;
  readonly models?: string;
  readonly more?: string;
}

const channel = ({ name, at = 'SIMULATOR', models = name, more = '' }: Sketch) =>
  `  - { name: ${name}, provider: simulator, base_url: "${at}", models: [{ name: ${models}, upstream: demo-embedding }]${more} }`;

const bad: Readonly<Record<string, string>> = {
  dead: `http://127.0.0.1:${await closedPort()}`,
  refusing: 'SIMULATOR/fault(status=500)',
  limited: 'SIMULATOR/fault(status=429)',
  overloaded: 'SIMULATOR/fault(status=529)',
  locked: 'SIMULATOR/fault(status=401)',
  garbled: 'SIMULATOR/fault(garbage)',
  paged: 'SIMULATOR/fault(html)',
  silent: 'SIMULATOR/fault(empty)',
  cutting: 'SIMULATOR/fault(cut-at=1)',
  closing: 'SIMULATOR/fault(close-at=1)',
};

const models = ['vectors', 'asleep', 'text-only', 'spared', ...Object.keys(bad)];

const shared = shareGateway({
  config: `
channels:
${channel({ name: 'vectors' })}
${channel({ name: 'asleep' })}
${channel({ name: 'text-only', more: ', protocols: [chat, responses, messages, generate-content]' })}
${Object.entries(bad)
  .flatMap(([name, at]) => [
    channel({ name, at, more: ', priority: 9' }),
    channel({ name: `spare-of-${name}`, models: name }),
  ])
  .join('\n')}
  - { name: talks, provider: simulator, base_url: SIMULATOR, models: [demo-chat] }
models:
${models.map((id) => `  - { id: ${id}, type: embedding, context_window: 8192, enabled: ${id !== 'asleep'}, price: { input: 1 } }`).join('\n')}
aliases: { other-name: vectors }
users:
  - { email: tester@example.com, balance: 100 }
keys:
  - { name: test, user: tester@example.com, secret: ${testKey} }
  - { name: narrow, user: tester@example.com, secret: ${narrow}, models: [demo-chat] }
  - { name: slow, user: tester@example.com, secret: ${slow}, rpm: 1 }
`,
});

async function send(body: unknown, headers: Record<string, string> = {}) {
  const { gateway } = shared;
  gateway.simulator.clear();
  const response = await gateway.post('/v1/embeddings', body, headers);
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    id: response.headers.get('x-request-id') ?? '',
    text,
    json: JSON.parse(text) as {
      error?: { message: string; type: string; param: string | null; code: string | null };
      data?: { embedding: unknown }[];
      model?: string;
    },
    upstream: gateway.simulator.requests(),
  };
}

const good = { model: 'vectors', input: 'hello' };

describe('a request that is refused reaches no upstream', () => {
  test.each<[string, unknown, number, string, string | null]>([
    ['nothing', '', 400, 'invalid request body', null],
    ['no JSON', '{"model":"vectors","input":"a"', 400, 'invalid request body', null],
    ['a list', '[]', 400, 'invalid request body', null],
    ['no model', { input: 'a' }, 400, 'model is required', 'model'],
    ['an empty model', { ...good, model: ' ' }, 400, 'model is required', 'model'],
    ['a model that is not a string', { ...good, model: 7 }, 400, 'model is required', 'model'],
    ['no input', { model: 'vectors' }, 400, 'input is required', 'input'],
    ['null as input', { model: 'vectors', input: null }, 400, 'input is required', 'input'],
    [
      'two models',
      '{"model":"vectors","model":"other","input":"a"}',
      400,
      "invalid request body: duplicate key 'model'",
      'model',
    ],
    [
      'two inputs',
      '{"model":"vectors","input":"a","Input":"b"}',
      400,
      "invalid request body: duplicate key 'Input'",
      'Input',
    ],
    [
      'brackets without end',
      `{"model":"vectors","input":${'['.repeat(600)}${']'.repeat(600)}}`,
      400,
      'invalid request body: too complex',
      null,
    ],
    [
      'more numbers than anybody embeds',
      `{"model":"vectors","input":[${'1,'.repeat(1_100_000)}1]}`,
      400,
      'invalid request body: too complex',
      null,
    ],
    [
      'an unknown model',
      { ...good, model: 'nobody' },
      400,
      "model 'nobody' is not available, please use a different model",
      'model',
    ],
    [
      'a chat model',
      { ...good, model: 'demo-chat' },
      400,
      "model 'demo-chat' is not available, please use a different model",
      'model',
    ],
    [
      'a model whose channel does not speak the protocol',
      { ...good, model: 'text-only' },
      400,
      "model 'text-only' is not available, please use a different model",
      'model',
    ],
    [
      'a disabled model',
      { ...good, model: 'asleep' },
      403,
      "model 'asleep' is not available",
      'model',
    ],
  ])('%s', async (_, body, status, message, param) => {
    const { upstream, ...response } = await send(body);
    expect(response.status).toBe(status);
    expect(response.json.error).toMatchObject({ message, param });
    expect(upstream).toEqual([]);
  });

  test('a key without the model', async () => {
    const { status, json } = await send(good, { authorization: `Bearer ${narrow}` });
    expect(status).toBe(403);
    expect(json.error?.message).toBe("model 'vectors' is not allowed for this API key");
  });

  test('a key that has used its rate', async () => {
    const authorization = `Bearer ${slow}`;
    expect((await send(good, { authorization })).status).toBe(200);
    const { status, headers, upstream } = await send(good, { authorization });
    expect(status).toBe(429);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    expect(upstream).toEqual([]);
  });

  test('a body that is too large', async () => {
    const gateway = await openGateway({
      config: `
channels:
${channel({ name: 'vectors' })}
models: [{ id: vectors, type: embedding, price: { input: 1 } }]`,
    });
    const body = JSON.stringify({ model: 'vectors', input: 'a'.repeat(64 * 2 ** 20) });
    expect((await gateway.post('/v1/embeddings', body)).status).toBe(413);
    expect(gateway.simulator.requests()).toEqual([]);
  });

  test('another method', async () => {
    const response = await fetch(`${shared.gateway.url}/v1/embeddings`);
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('POST');
  });
});

describe('what the gateway does not judge is the upstream’s to judge', () => {
  test.each([
    ['an empty text', { input: '' }],
    ['an empty list', { input: [] }],
    ['texts beside tokens', { input: ['a', [1]] }],
    ['an object', { input: { text: 'a' } }],
    ['another encoding', { encoding_format: 'int8' }],
    ['no dimensions', { dimensions: 0 }],
  ])('%s', async (_, changes) => {
    const { status, json, upstream, id } = await send({ ...good, ...changes });
    expect(status).toBe(400);
    expect(json.error?.type).toBe('invalid_request_error');
    expect(upstream).toHaveLength(1);
    expect(await rowOf(shared.gateway, id)).toMatchObject({ outcome: 'failed', cost: null });
  });

  test('a text beyond the window', async () => {
    const { status, json } = await send({ ...good, input: 'a'.repeat(40_000) });
    expect(status).toBe(400);
    expect(json.error?.message).toBe('prompt is too long (capability_rejected: prompt_too_long)');
  });
});

describe('a response', () => {
  test('comes as the upstream gave it, but for the name of the model', async () => {
    const { status, headers, json } = await send({ ...good, dimensions: 4 });
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('application/json');
    expect(json.model).toBe('vectors');
    expect(json.data?.[0]?.embedding).toHaveLength(4);
  });

  test('under another name of the model', async () => {
    const { json, id } = await send({ ...good, model: 'other-name' });
    expect(json.model).toBe('other-name');
    expect(await rowOf(shared.gateway, id)).toMatchObject({ model: 'other-name' });
  });

  test('of megabytes', async () => {
    const input = Array.from({ length: 500 }, (_, index) => `text ${index}`);
    const { status, json, text } = await send({ ...good, input });
    expect(status).toBe(200);
    expect(text.length).toBeGreaterThan(8_000_000);
    expect(json.data).toHaveLength(500);
  });
});

describe.each(Object.keys(bad))('a channel that is %s', (model) => {
  test('is followed by the next one', async () => {
    const { status, json, id } = await send({ ...good, model });
    expect(status).toBe(200);
    expect(json.data).toHaveLength(1);
    const row = await rowOf(shared.gateway, id);
    expect(row).toMatchObject({ outcome: 'completed', channel: `spare-of-${model}` });
    expect(attemptsOf(row).map(({ channel: name }) => name)).toEqual([model, `spare-of-${model}`]);
  });
});

test.each(textProtocols)('an embedding model cannot be called in $name', async (protocol) => {
  const { gateway } = shared;
  gateway.simulator.clear();
  const response = await gateway.post(
    protocol.path('vectors', false),
    protocol.body('vectors', false),
  );
  expect(response.status).toBe(400);
  expect(protocol.errorMessage(JSON.parse(await response.text()))).toBe(
    "model 'vectors' is not available, please use a different model",
  );
  expect(gateway.simulator.requests()).toEqual([]);
});

test('its models are listed, except where no method of the list’s protocol could call them', async () => {
  const headers = { authorization: `Bearer ${testKey}` };
  const list = async (path: string) => (await fetch(shared.gateway.url + path, { headers })).text();
  expect(await list('/v1/models')).toContain('"vectors"');
  expect(await list('/v1beta/models')).not.toContain('vectors');
});
