import { createImage } from 'simulator';
import { describe, expect, test } from 'vitest';
import { testKey } from '../support/gateway.ts';
import { rowOf, shareGateway, until } from './support.ts';

const tiers =
  'price: { image_tiers: [{ name: 1K, max_pixels: 2610000, price: 0.04 }, { name: 4K, max_pixels: 20000000, price: 0.08 }], reference_image: 0.003 }';
const tokens = 'price: { input: 2, output: 12, output_image: 120 }';

const channel = (name: string, upstream: string, protocol: string, more = '') =>
  `  - { name: ${name}, provider: simulator, base_url: SIMULATOR${more}, protocols: [${protocol}], models: [{ name: ${name}, upstream: ${upstream} }] }`;

const shared = shareGateway({
  config: `
channels:
${channel('pictures', 'gpt-image-1', 'images')}
${channel('references', 'demo-image', 'images')}
${channel('bare', 'gpt-image-1', 'images')}
${channel('by-tokens', 'gpt-image-1', 'images')}
${channel('parts', 'demo-image', 'generate-content')}
${channel('failing', 'gpt-image-1', 'images', '/fault(status=500)')}
${channel('tardy', 'gpt-image-1', 'images', '/fault(delay=1200)')}
${channel('slow', 'gpt-image-1', 'images', '/fault(delay=11500)')}
${channel('slow-failing', 'gpt-image-1', 'images', '/fault(delay=11500;status=500)')}
${channel('unpriced', 'demo-image', 'images')}
models:
  - { id: pictures, type: image, capabilities: [edits], ${tiers} }
  - { id: references, type: image, capabilities: [multi_reference], ${tiers} }
  - { id: bare, type: image, ${tiers} }
  - { id: by-tokens, type: image, ${tokens} }
  - { id: parts, type: image, capabilities: [edits], ${tokens} }
  - { id: failing, type: image, ${tiers} }
  - { id: tardy, type: image, ${tiers} }
  - { id: slow, type: image, ${tiers} }
  - { id: slow-failing, type: image, ${tiers} }
  - { id: unpriced, type: image }
timeouts: { keepalive_comment: 300ms }
users:
  - { email: tester@example.com, balance: 100 }
keys:
  - { name: test, user: tester@example.com, secret: ${testKey} }
`,
});

interface Completion {
  readonly choices: readonly {
    readonly message: { readonly content: string };
    readonly finish_reason: string;
  }[];
  readonly usage?: Readonly<Record<string, unknown>>;
  readonly error?: {
    readonly code: string;
    readonly param: string | null;
    readonly message: string;
  };
}

async function ask(model: string, body: Record<string, unknown>) {
  const { gateway } = shared;
  gateway.simulator.clear();
  const response = await gateway.post('/v1/chat/completions', { model, ...body });
  const text = await response.text();
  const { status, headers } = response;
  const isJson = headers.get('content-type')?.startsWith('application/json') === true;
  return {
    status,
    headers,
    text,
    json: (isJson ? JSON.parse(text) : {}) as Completion,
    upstream: gateway.simulator.requests(),
    row: await rowOf(gateway, headers.get('x-request-id') ?? ''),
  };
}

const user = (content: unknown) => ({ messages: [{ role: 'user', content }] });
const png = createImage({ type: 'png', width: 8, height: 8 }).toString('base64');

const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } };
const withImage = (text: string) => user([{ type: 'text', text }, image]);

describe('a chat with an image model', () => {
  test('gets its pictures as Markdown, at the price of pictures', async () => {
    const { status, json, upstream, row } = await ask('pictures', {
      messages: [
        { role: 'system', content: 'You never draw.' },
        { role: 'user', content: 'A dog' },
        { role: 'assistant', content: 'No.' },
        { role: 'user', content: 'A cat' },
      ],
      n: 2,
      size: '1024x1536',
      output_format: 'jpeg',
      temperature: 9,
      max_tokens: 1,
      tools: [{ type: 'function', function: { name: 'f' } }],
    });
    expect(status).toBe(200);
    expect(upstream.map(({ path, json: sent }) => [path, sent])).toEqual([
      [
        '/v1/images/generations',
        { model: 'gpt-image-1', prompt: 'A cat', n: 2, size: '1024x1536', output_format: 'jpeg' },
      ],
    ]);
    const [choice, ...others] = json.choices;
    expect(others).toEqual([]);
    expect(choice?.finish_reason).toBe('stop');
    expect(choice?.message.content).toMatch(
      /^!\[image\]\(data:image\/jpeg;base64,[\w+/=]+\)\n\n!\[image\]\(data:image\/jpeg;base64,[\w+/=]+\)$/,
    );
    const { input, output } = row.tokens;
    expect(json.usage).toMatchObject({
      prompt_tokens: input,
      completion_tokens: output,
      total_tokens: input + output,
    });
    expect(row).toMatchObject({
      protocol: 'chat',
      channel: 'pictures',
      outcome: 'completed',
      units: { images: 2 },
      cost: '0.08',
      losses: [],
    });
  });

  test.each([true, false])('streams, with its usage: %s', async (wantsUsage) => {
    const { status, headers, text, upstream, row } = await ask('pictures', {
      ...user('A cat'),
      stream: true,
      ...(wantsUsage && { stream_options: { include_usage: true } }),
    });
    expect(status).toBe(200);
    expect(headers.get('content-type')).toMatch(/^text\/event-stream/);
    const frames = text.trimEnd().split('\n\n');
    expect(frames.at(-1)).toBe('data: [DONE]');
    const chunks = frames
      .slice(0, -1)
      .map((frame) => JSON.parse(frame.replace(/^data: /, '')) as Chunk);
    const content = chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('');
    expect(content).toMatch(/^!\[image\]\(data:image\/png;base64,[\w+/=]+\)$/);
    expect(chunks.at(-1)?.usage?.total_tokens).toBe(
      wantsUsage ? row.tokens.input + row.tokens.output : undefined,
    );
    expect(upstream[0]?.json).toEqual({ model: 'gpt-image-1', prompt: 'A cat' });
    expect(row).toMatchObject({ outcome: 'completed', cost: '0.04' });
  });

  test('has its pictures edited', async () => {
    const { status, upstream, row } = await ask('pictures', withImage('Blue'));
    expect(status).toBe(200);
    const [edit] = upstream;
    expect(edit?.path).toBe('/v1/images/edits');
    expect(JSON.stringify(edit?.form)).toContain('Blue');
    expect(row).toMatchObject({ units: { images: 1, reference_images: 1 }, cost: '0.04' });
  });

  test.each([
    ['pictures', '/v1/images/edits'],
    ['parts', '/v1beta/models/demo-image:generateContent'],
  ])('has a picture of megabytes edited by %s', async (model, path) => {
    const bytes = createImage({ type: 'png', width: 8, height: 8, bytes: 5_000_000 });
    const url = `data:image/png;base64,${bytes.toString('base64')}`;
    const content = [
      { type: 'text', text: 'Blue' },
      { type: 'image_url', image_url: { url } },
    ];
    const { status, upstream, row } = await ask(model, user(content));
    expect([status, upstream[0]?.path]).toEqual([200, path]);
    expect(upstream[0]?.bodyBytes).toBeGreaterThan(bytes.length);
    expect(row).toMatchObject({ units: { images: 1, reference_images: 1 } });
  });

  test('has its pictures used as references, and pays for the second one', async () => {
    const two = user([{ type: 'text', text: 'Blue' }, image, image]);
    const { status, upstream, row } = await ask('references', two);
    expect(status).toBe(200);
    expect(upstream[0]).toMatchObject({
      path: '/v1/images/generations',
      json: {
        model: 'demo-image',
        prompt: 'Blue',
        image: [image.image_url.url, image.image_url.url],
        response_format: 'b64_json',
      },
    });
    expect(row).toMatchObject({ units: { images: 1, reference_images: 2 }, cost: '0.043' });
  });

  test('is drawn by a model of generate-content', async () => {
    const { status, json, upstream, row, headers } = await ask('parts', {
      ...withImage('A cat'),
      quality: 'high',
    });
    expect(status).toBe(200);
    expect(upstream[0]).toMatchObject({
      path: '/v1beta/models/demo-image:generateContent',
      json: {
        contents: [{ parts: [{ text: 'A cat' }, { inlineData: { mimeType: 'image/png' } }] }],
        generationConfig: { responseModalities: ['IMAGE'] },
      },
    });
    expect(json.choices[0]?.message.content).toMatch(/^!\[image\]\(data:image\/png;base64,/);
    expect(headers.get('x-sluice-conversion')).toBe('dropped=quality');
    const images = row.units?.output_image_tokens ?? 0;
    const inputImages = row.units?.input_image_tokens ?? 0;
    expect(images).toBeGreaterThan(0);
    expect(inputImages).toBeGreaterThan(0);
    // The price has no part for pictures of the input: they cost what text costs.
    const cost = 2 * row.tokens.input + 120 * images + 12 * (row.tokens.output - images);
    expect(Number(row.cost)).toBeCloseTo(cost / 1e6, 9);
    expect(row).toMatchObject({ protocol: 'chat', losses: ['dropped:quality'] });
  });

  test.each([
    ['a prompt', 'refuse prompt'],
    ['a picture', 'refuse IMAGE_SAFETY'],
  ])('gets an error if %s is blocked, and pays nothing', async (_, prompt) => {
    const { status, json, row } = await ask('parts', user(prompt));
    expect([status, json.error?.code]).toEqual([400, 'content_policy_violation']);
    expect(row.cost).toBeNull();
  });

  test('gets an error if there is no picture, and pays nothing', async () => {
    const { status, row } = await ask('parts', user('no picture'));
    expect(status).toBe(502);
    expect(row).toMatchObject({ outcome: 'failed', cost: null });
  });

  test('is asked for once, whatever happens', async () => {
    const { status, upstream, row } = await ask('failing', user('A cat'));
    expect(status).toBe(502);
    expect(upstream).toHaveLength(1);
    expect(row).toMatchObject({ cost: null });
  });

  test.each<[string, string, Record<string, unknown>, string | null]>([
    ['no text', 'pictures', user([image]), 'messages[0].content'],
    ['no message of the user', 'pictures', { messages: [] }, 'messages'],
    ['an unknown size', 'pictures', { ...user('a'), size: 'big' }, 'size'],
    ['too many pictures', 'pictures', { ...user('a'), n: 11 }, 'n'],
    ['a picture for a model that only draws', 'bare', withImage('a'), 'model'],
    ['a model without a price', 'unpriced', user('a'), 'model'],
  ])('with %s is refused, and nothing is sent', async (_, model, body, param) => {
    const { status, json, upstream, row } = await ask(model, body);
    expect([status, json.error?.param]).toEqual([400, param]);
    expect(upstream).toEqual([]);
    expect(row).toMatchObject({ outcome: 'refused', cost: null });
  });

  test.each(['/v1/messages', '/v1/responses'])(
    'an image model at %s is not available',
    async (path) => {
      const response = await shared.gateway.post(path, {
        model: 'pictures',
        max_tokens: 5,
        input: 'a',
        messages: [{ role: 'user', content: 'a' }],
      });
      expect(response.status).toBe(400);
      expect(await response.text()).toContain(
        "model 'pictures' is not available, please use a different model",
      );
    },
  );
});

test.each([true, false])(
  'a client that leaves pays for what is made; streamed: %s',
  async (stream) => {
    const { gateway } = shared;
    const before = new Set((await gateway.usage()).map(({ id }) => id));
    const leaving = fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${testKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'tardy', ...user('A cat'), stream }),
      signal: AbortSignal.timeout(400),
    });
    await expect(leaving).rejects.toThrow('The operation was aborted');
    const own = async () => (await gateway.usage()).filter(({ id }) => !before.has(id));
    await until(async () => (await own()).length > 0, 'the request has no row');
    expect(await own()).toMatchObject([{ model: 'tardy', cost: '0.04', units: { images: 1 } }]);
  },
);

describe.concurrent('a stream that has to wait for its pictures', () => {
  const streamed = (model: string) =>
    shared.gateway.post('/v1/chat/completions', { model, ...user('A cat'), stream: true });

  test('is kept alive', async () => {
    const response = await streamed('slow');
    expect(await response.text()).toMatch(
      /^(?:: keep-alive\n\n){2,}data: \{[^]*data: \[DONE\]\n\n$/,
    );
    const row = await rowOf(shared.gateway, response.headers.get('x-request-id') ?? '');
    expect(row).toMatchObject({ outcome: 'completed', cost: '0.04' });
  });

  test('is kept alive in generateContent, too', async () => {
    const path = '/v1beta/models/slow:streamGenerateContent?alt=sse';
    const response = await shared.gateway.post(path, {
      contents: [{ parts: [{ text: 'A cat' }] }],
    });
    expect(await response.text()).toMatch(/^\n+data: \{[^]*"inlineData"/);
  });

  test('ends with the error if there are none', async () => {
    const response = await streamed('slow-failing');
    expect(response.status).toBe(200);
    expect(await response.text()).toMatch(/^(?:: keep-alive\n\n){2,}data: \{"error":[^\n]*\n\n$/);
    const row = await rowOf(shared.gateway, response.headers.get('x-request-id') ?? '');
    expect(row).toMatchObject({ outcome: 'failed', cost: null });
  });
});

interface Chunk {
  readonly choices: readonly { readonly delta: { readonly content?: string } }[];
  readonly usage?: { readonly total_tokens: number } | null;
}
