import { imageSize } from '#estimation/index.ts';
import { describe, expect, test } from 'vitest';
import { testKey } from '../support/gateway.ts';
import { only, openGateway, rowOf, shareGateway, until } from './support.ts';

/* The tool `image_generation` of Responses clients, at upstreams that have no such tool. */

const upstreams = ['chat', 'messages', 'generate-content'] as const;
const tiers = 'price: { image_tiers: [{ name: 1K, max_pixels: 20000000, price: 0.04 }] }';
const text = 'price: { input: 1, output: 2 }';

const channel = (name: string, protocol: string, upstream: string, more = '') =>
  `  - { name: ${name}, provider: simulator, base_url: SIMULATOR${more}, protocols: [${protocol}], models: [{ name: ${name}, upstream: ${upstream} }] }`;

const shared = shareGateway({
  config: `
channels:
${upstreams.map((name) => channel(`draws-${name}`, name, 'demo-chat')).join('\n')}
${upstreams.map((name) => channel(`plain-${name}`, name, 'demo-chat')).join('\n')}
${channel('own', 'responses', 'demo-chat')}
${channel('pictures', 'images', 'gpt-image-1')}
${channel('parts', 'generate-content', 'demo-image')}
${channel('broken', 'images', 'gpt-image-1', '/fault(status=500)')}
${channel('via-parts', 'chat', 'demo-chat')}
${channel('via-broken', 'chat', 'demo-chat')}
${channel('via-unpriced', 'chat', 'demo-chat')}
${channel('unpriced', 'images', 'gpt-image-1')}
models:
${upstreams.map((name) => `  - { id: draws-${name}, type: chat, image_tool_model: pictures, ${text} }`).join('\n')}
${upstreams.map((name) => `  - { id: plain-${name}, type: chat, ${text} }`).join('\n')}
  - { id: own, type: chat, image_tool_model: pictures, ${text} }
  - { id: pictures, type: image, ${tiers} }
  - { id: parts, type: image, price: { input: 2, output: 12, output_image: 120 } }
  - { id: broken, type: image, ${tiers} }
  - { id: unpriced, type: image }
  - { id: via-parts, type: chat, image_tool_model: parts, ${text} }
  - { id: via-broken, type: chat, image_tool_model: broken, ${text} }
  - { id: via-unpriced, type: chat, image_tool_model: unpriced, ${text} }
users:
  - { email: tester@example.com, balance: 100 }
keys:
  - { name: test, user: tester@example.com, secret: ${testKey} }
`,
});

interface Item {
  readonly id: string;
  readonly type: string;
  readonly status?: string;
  readonly result?: string | null;
  readonly [member: string]: unknown;
}

interface Whole {
  readonly status: string;
  readonly output: readonly Item[];
  readonly error?: { readonly message: string; readonly param: string | null } | null;
}

const tools = [{ type: 'image_generation' }];

async function ask(model: string, body: Record<string, unknown>) {
  const { gateway } = shared;
  gateway.simulator.clear();
  const response = await gateway.post('/v1/responses', {
    model,
    tools,
    max_output_tokens: 1000,
    ...body,
  });
  const raw = await response.text();
  const id = response.headers.get('x-request-id') ?? '';
  const events = body['stream'] === true ? eventsOf(raw) : [];
  const last = events.at(-1)?.['response'] as Whole | undefined;
  return {
    status: response.status,
    headers: response.headers,
    events,
    whole: last ?? (JSON.parse(raw) as Whole),
    upstream: gateway.simulator.requests(),
    row: await rowOf(gateway, id),
    pictureRow: (at = 1) => rowOf(gateway, `${id}_picture_${at}`),
    id,
  };
}

function eventsOf(raw: string): Readonly<Record<string, unknown>>[] {
  return raw
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => JSON.parse(line.slice('data: '.length)) as Record<string, unknown>);
}

const draw = 'call tool image_generation with {"prompt":"A red house"}';

const isPicture = ({ result }: Item): boolean =>
  typeof result === 'string' && imageSize(result) !== null;

describe.each(upstreams)('the picture tool at an upstream of %s', (protocol) => {
  const model = `draws-${protocol}`;

  test('draws', async () => {
    const { status, whole, upstream, row, pictureRow, id } = await ask(model, { input: draw });
    expect(status).toBe(200);
    expect(upstream.map(({ path }) => path).at(-1)).toBe('/v1/images/generations');
    expect(upstream.at(-1)?.json).toEqual({ model: 'gpt-image-1', prompt: 'A red house' });
    expect(upstream).toHaveLength(2);
    expect(whole.status).toBe('completed');
    const [item, ...others] = whole.output.filter(({ type }) => type !== 'reasoning');
    expect(others).toEqual([]);
    expect(item).toMatchObject({
      type: 'image_generation_call',
      status: 'completed',
      output_format: 'png',
      revised_prompt: 'A red house',
    });
    expect(item !== undefined && isPicture(item)).toBe(true);
    expect(row).toMatchObject({ outcome: 'completed', model, losses: [], protocol: 'responses' });
    expect(await pictureRow()).toMatchObject({
      id: `${id}_picture_1`,
      outcome: 'completed',
      model: 'pictures',
      protocol: 'responses',
      units: { images: 1 },
      cost: '0.04',
    });
  });

  test('draws in a stream', async () => {
    const { whole, events, row, pictureRow } = await ask(model, { input: draw, stream: true });
    const ofPicture = events.filter(
      ({ type, item }) =>
        String(type).includes('image_generation') ||
        (item as Item | undefined)?.type === 'image_generation_call',
    );
    expect(ofPicture.map(({ type }) => type)).toEqual([
      'response.output_item.added',
      'response.image_generation_call.in_progress',
      'response.image_generation_call.generating',
      'response.image_generation_call.completed',
      'response.output_item.done',
    ]);
    expect(events.map(({ sequence_number: number }) => number)).toEqual(
      events.map((_, index) => index),
    );
    expect(events.at(-1)?.type).toBe('response.completed');
    const done = ofPicture.at(-1)?.['item'] as Item;
    expect(isPicture(done)).toBe(true);
    const index = Number(ofPicture.at(-1)?.['output_index']);
    expect(whole.output[index]).toEqual(done);
    expect(row).toMatchObject({ outcome: 'completed', cost: expect.stringMatching(/^0\.0/) });
    expect(await pictureRow()).toMatchObject({ outcome: 'completed', cost: '0.04' });
  });

  test('draws what the tool choice requires', async () => {
    const { whole } = await ask(model, {
      input: 'A house',
      tool_choice: { type: 'image_generation' },
    });
    expect(whole.output.filter(isPicture)).toHaveLength(1);
  });

  test('without an image model is a loss, and refused where it is required', async () => {
    const plain = await ask(`plain-${protocol}`, { input: draw });
    expect(plain.status).toBe(200);
    expect(plain.row.losses).toEqual(['dropped:tools.image_generation']);
    const forced = await ask(`plain-${protocol}`, {
      input: draw,
      tool_choice: { type: 'image_generation' },
    });
    expect(forced.status).toBe(400);
    expect(forced.whole.error?.param).toBe('tool_choice');
  });
});

const url = (item: Item | undefined): string => `data:image/png;base64,${String(item?.result)}`;
const question = { role: 'user', content: draw };
const later = { role: 'user', content: 'What did you draw?' };

describe.each(upstreams)('a picture of an earlier turn at an upstream of %s', (protocol) => {
  const model = `draws-${protocol}`;
  const seesPictures = protocol !== 'chat';

  test.each(['before', 'after'])('the assistant’s text, which stands %s', async (place) => {
    const { whole } = await ask(model, { input: [question] });
    const item = whole.output.find(({ type }) => type === 'image_generation_call');
    expect(url(item)).toMatch(/^data:image\/png;base64,i/);
    const words = {
      type: 'message',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'A house, as you wished.' }],
    };
    const answered = place === 'before' ? [words, item] : [item, words];
    const second = await ask(model, { input: [question, ...answered, later] });
    expect(second.status).toBe(200);
    expect(second.upstream).toHaveLength(1);
    const sent = JSON.stringify(second.upstream[0]?.json);
    expect(sent.includes(String(item?.result))).toBe(seesPictures);
    expect(sent).toContain('A red house');
    expect(sent).toContain('The picture was shown to the user');
    expect(second.row.losses).toEqual([]);
  });

  test('beside a call of the client’s own, whatever their order', async () => {
    const { whole } = await ask(model, { input: [question] });
    const item = whole.output.find(({ type }) => type === 'image_generation_call');
    const call = { type: 'function_call', call_id: 'call_1', name: 'f', arguments: '{}' };
    const result = { type: 'function_call_output', call_id: 'call_1', output: 'done' };
    const own = { type: 'function', name: 'f', parameters: { type: 'object', properties: {} } };
    for (const calls of [
      [call, item],
      [item, call],
    ]) {
      const second = await ask(model, {
        input: [question, ...calls, result, later],
        tools: [...tools, own],
      });
      expect(second.status).toBe(200);
      expect(second.row.losses).toEqual([]);
    }
  });

  test('by its id alone, or failed', async () => {
    const bare = { type: 'image_generation_call', id: 'ig_1' };
    const failed = { ...bare, status: 'failed', result: null, error: { message: 'no money' } };
    for (const [item, words] of [
      [bare, 'The picture was shown to the user.'],
      [failed, 'There is no picture: no money'],
    ] as const) {
      const second = await ask(model, { input: [question, item, later] });
      expect(second.status).toBe(200);
      expect(JSON.stringify(second.upstream[0]?.json)).toContain(words);
    }
  });

  test('is a loss without an image model', async () => {
    const item = { type: 'image_generation_call', id: 'ig_1', result: 'AAAA' };
    const { status, row } = await ask(`plain-${protocol}`, { input: [question, item, later] });
    expect(status).toBe(200);
    expect(row.losses).toEqual(['dropped:image_generation_call', 'dropped:tools.image_generation']);
  });
});

describe('what the client’s tool says', () => {
  const model = 'draws-chat';
  const withTool = (options: Record<string, unknown>) => ({
    tools: [{ type: 'image_generation', ...options }],
  });

  test('holds for every picture, and is the model’s only choice', async () => {
    const { upstream, whole } = await ask(model, {
      input: `${draw.slice(0, -1)},"size":"1024x1024","quality":"high"}`,
      ...withTool({
        size: '1024x1536',
        output_format: 'jpeg',
        background: 'opaque',
        moderation: 'low',
        quality: 'auto',
      }),
    });
    const offered = JSON.stringify(upstream[0]?.json);
    expect(offered).toContain('"enum":["1024x1536"]');
    expect(upstream[1]?.json).toEqual({
      model: 'gpt-image-1',
      prompt: 'A red house',
      size: '1024x1536',
      quality: 'high',
      background: 'opaque',
      output_format: 'jpeg',
      moderation: 'low',
    });
    expect(whole.output[0]).toMatchObject({
      output_format: 'jpeg',
      size: '1024x1536',
      quality: 'high',
      background: 'opaque',
    });
  });

  test('is a loss where no picture can be asked for with it', async () => {
    const { row, headers } = await ask(model, {
      input: draw,
      ...withTool({ model: 'gpt-image-1', partial_images: 2, action: 'edit', n: 3 }),
    });
    expect(row.losses).toEqual([
      'dropped:tools.image_generation.action',
      'dropped:tools.image_generation.model',
      'dropped:tools.image_generation.n',
      'dropped:tools.image_generation.partial_images',
    ]);
    expect(headers.get('x-sluice-conversion')).toContain('tools.image_generation.n');
  });

  test('is refused where it is wrong', async () => {
    const { status, whole, upstream } = await ask(model, {
      input: draw,
      ...withTool({ size: 'enormous' }),
    });
    expect(status).toBe(400);
    expect(whole.error).toMatchObject({ param: 'tools' });
    expect(whole.error?.message).toContain('image_generation: size');
    expect(upstream).toEqual([]);
  });

  test('nonsense of the model is left out', async () => {
    const { upstream } = await ask(model, {
      input: `${draw.slice(0, -1)},"size":"huge","quality":7,"background":"auto"}`,
    });
    expect(upstream[1]?.json).toEqual({ model: 'gpt-image-1', prompt: 'A red house' });
  });

  test('a function of the same name is the client’s own', async () => {
    const own = {
      type: 'function',
      name: 'image_generation',
      parameters: { type: 'object', properties: {} },
    };
    const { whole, upstream } = await ask(model, { input: draw, tools: [...tools, own] });
    expect(whole.output.map(({ type }) => type)).toEqual(['function_call']);
    const { tools: offered } = only(upstream).json as {
      tools: { function: { name: string } }[];
    };
    const names = offered.map(({ function: { name } }) => name);
    expect(names[1]).toBe('image_generation');
    expect(names[0]).toMatch(/^image_generation_\w+$/);
    const drawn = await ask(model, {
      input: `call tool ${names[0]} with {"prompt":"A red house"}`,
      tools: [...tools, own],
    });
    expect(drawn.whole.output.filter(isPicture)).toHaveLength(1);
  });
});

describe('an upstream of responses', () => {
  test('draws itself, as it was asked to', async () => {
    const { whole, upstream } = await ask('own', { input: draw });
    expect(upstream).toHaveLength(1);
    expect(upstream[0]?.json).toMatchObject({ tools });
    expect(whole.output.filter(isPicture)).toHaveLength(1);
  });
});

describe('an image model of generate-content', () => {
  test.each([false, true])('draws, stream: %s', async (stream) => {
    const { whole, pictureRow } = await ask('via-parts', { input: draw, stream });
    expect(whole.output.filter(isPicture)).toHaveLength(1);
    expect(whole.output[0]).toMatchObject({ output_format: 'png', size: '1024x1024' });
    expect(await pictureRow()).toMatchObject({
      outcome: 'completed',
      model: 'parts',
      units: { images: 1, output_image_tokens: 1120 },
    });
  });
});

describe('several pictures in one response', () => {
  test.each([false, true])('are drawn in order, four at most, stream: %s', async (stream) => {
    const { whole, upstream, pictureRow } = await ask('draws-chat', {
      input: 'call tool image_generation 5 times with {"prompt":"A red house"}',
      stream,
    });
    expect(whole.output.map(({ status }) => status)).toEqual([
      'completed',
      'completed',
      'completed',
      'completed',
      'failed',
    ]);
    expect(whole.output[4]).toMatchObject({
      result: null,
      error: {
        code: 'invalid_value',
        message: 'image_generation: 4 pictures in one response at most',
      },
    });
    expect(new Set(whole.output.map(({ id }) => id)).size).toBe(5);
    expect(upstream).toHaveLength(5);
    for (const at of [1, 2, 3, 4]) {
      expect(await pictureRow(at)).toMatchObject({ outcome: 'completed', cost: '0.04' });
    }
  });
});

describe('threads', () => {
  const padding = { role: 'user', content: 'x '.repeat(700_000) };

  test.each([false, true])(
    'that read a large request offer the tool too, stream: %s',
    async (stream) => {
      const { whole, row, pictureRow } = await ask('draws-chat', {
        input: [padding, question],
        stream,
      });
      expect(whole.output.filter(isPicture)).toHaveLength(1);
      expect(row.outcome).toBe('completed');
      expect(await pictureRow()).toMatchObject({ outcome: 'completed', cost: '0.04' });
    },
  );

  test('that read a large response find its calls', async () => {
    const filler = {
      type: 'function',
      name: 'filler',
      parameters: { type: 'object', properties: { text: { const: 'y'.repeat(400_000) } } },
    };
    const { whole, pictureRow } = await ask('draws-chat', {
      input: 'call tools',
      tools: [...tools, filler],
      max_output_tokens: 1_000_000,
    });
    expect(whole.output.map(({ type }) => type)).toEqual([
      'image_generation_call',
      'function_call',
    ]);
    expect(whole.output.filter(isPicture)).toHaveLength(1);
    expect(await pictureRow()).toMatchObject({ outcome: 'completed', cost: '0.04' });
  });
});

describe('a picture that fails', () => {
  test.each([
    ['refused', 'draws-chat', 'refuse prompt', 400, 'failed', 'content_policy_violation'],
    ['at no channel', 'via-broken', 'A house', 502, 'failed', 'upstream_error'],
    ['without a price', 'via-unpriced', 'A house', 400, 'refused', 'model_not_available'],
    ['without a prompt', 'draws-chat', ' ', 400, 'refused', 'invalid_value'],
  ])('%s', async (_, model, prompt, status, outcome, code) => {
    for (const stream of [false, true]) {
      const { whole, events, row, pictureRow } = await ask(model, {
        input: `call tool image_generation with {"prompt":"${prompt}"}`,
        stream,
      });
      expect(whole.status).toBe('completed');
      expect(whole.output).toHaveLength(1);
      expect(whole.output[0]).toMatchObject({ status: 'failed', result: null, error: { code } });
      const types = events.map(({ type }) => type);
      expect(types).not.toContain('response.image_generation_call.completed');
      expect(row.outcome).toBe('completed');
      expect(Number(row.cost)).toBeGreaterThan(0);
      expect(await pictureRow()).toMatchObject({ status, outcome, cost: null });
    }
  });
});

describe('the memory of pictures', () => {
  const open = () =>
    openGateway({
      config: `
limits: { body_memory: 24MiB }
channels:
${['draws', 'draws-slowly'].map((name) => channel(name, 'chat', 'demo-chat')).join('\n')}
${channel('pictures', 'images', 'gpt-image-1')}
${channel('slow', 'images', 'gpt-image-1', '/fault(delay=2000)')}
models:
  - { id: draws, type: chat, image_tool_model: pictures, ${text} }
  - { id: draws-slowly, type: chat, image_tool_model: slow, ${text} }
  - { id: pictures, type: image, ${tiers} }
  - { id: slow, type: image, ${tiers} }
`,
    });
  const request = { model: 'draws', input: draw, tools };

  test('without room for one nothing is sent, and the item fails', async () => {
    const gateway = await open();
    const other = gateway.post('/v1/responses', { ...request, model: 'draws-slowly' });
    const drawn = () =>
      gateway.simulator.requests().filter(({ path }) => path.includes('/images/'));
    await until(() => drawn().length === 1, 'the other one is drawn');
    const response = await gateway.post('/v1/responses', request);
    const { output } = (await response.json()) as Whole;
    expect(response.status).toBe(200);
    expect(output).toMatchObject([{ status: 'failed', error: { code: 'server_is_overloaded' } }]);
    expect(drawn()).toHaveLength(1);
    const id = `${String(response.headers.get('x-request-id'))}_picture_1`;
    expect(await rowOf(gateway, id)).toMatchObject({ outcome: 'refused', status: 503, cost: null });
    expect(await (await other).text()).toContain('"status":"completed","output_format"');
  });

  test('is given back, streamed or not', async () => {
    const gateway = await open();
    for (const stream of [false, true, false, true, false]) {
      const response = await gateway.post('/v1/responses', { ...request, stream });
      expect(await response.text()).toContain('"status":"completed","output_format"');
    }
  });
});
