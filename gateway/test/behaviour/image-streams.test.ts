import OpenAI, { toFile } from 'openai';
import { createImage } from 'simulator';
import { afterAll, describe, expect, test } from 'vitest';
import { testKey } from '../support/gateway.ts';
import { startOwnUpstream } from '../support/own-upstream.ts';
import {
  attemptsOf,
  openGateway,
  rawPost,
  rowOf,
  sendRaw,
  shareGateway,
  until,
} from './support.ts';

const own = await startOwnUpstream();
afterAll(() => own.close());

const tiers =
  'price: { image_tiers: [{ name: 1K, max_pixels: 2610000, price: 0.04 }, { name: 4K, max_pixels: 20000000, price: 0.08 }] }';
const tokens = 'price: { input: 5, input_image: 8, output: 10, output_image: 32 }';

const channel = (name: string, at: string, upstream: string, provider = 'simulator'): string =>
  `  - { name: ${name}, provider: ${provider}, base_url: "${at}", protocols: [images], api_key: sk-up, models: [{ name: ${name}, upstream: ${upstream} }] }`;
const model = (id: string, price: string): string =>
  `  - { id: ${id}, type: image, capabilities: [edits, streaming], ${price} }`;

const shared = shareGateway({
  config: `
channels:
${channel('tiered', 'SIMULATOR', 'demo-image')}
${channel('counted', 'SIMULATOR', 'gpt-image-1.5')}
${channel('sets', 'SIMULATOR', 'seedream-4-5')}
${channel('own', own.url, 'theirs', 'openai-compatible')}
models:
${['tiered', 'sets', 'own'].map((id) => model(id, tiers)).join('\n')}
${model('counted', tokens)}
users: [{ email: tester@example.com, balance: 100 }]
keys: [{ name: test, user: tester@example.com, secret: ${testKey} }]
`,
});

const generations = '/v1/images/generations';
const good = { model: 'tiered', prompt: 'a house', size: '256x256', stream: true };
const png = createImage({ type: 'png', width: 64, height: 64 });
const b64 = png.toString('base64');

interface Shown {
  readonly name: string | null;
  readonly data: Record<string, unknown>;
}

function eventsIn(text: string): (Shown | '[DONE]')[] {
  return text
    .replaceAll('\r\n', '\n')
    .split('\n\n')
    .filter((part) => part.includes('data: '))
    .map((part) => {
      const data = part.slice(part.indexOf('data: ') + 6);
      if (data === '[DONE]') return data;
      const name = /^event: (.*)$/m.exec(part)?.[1] ?? null;
      return { name, data: JSON.parse(data) as Record<string, unknown> };
    });
}

async function send(body: unknown, headers: Record<string, string> = {}, path = generations) {
  const { gateway } = shared;
  gateway.simulator.clear();
  const response = await gateway.post(path, body, headers);
  const text = await response.text();
  return {
    status: response.status,
    type: response.headers.get('content-type'),
    id: response.headers.get('x-request-id') ?? '',
    text,
    events: eventsIn(text),
  };
}

const namesOf = (events: ReturnType<typeof eventsIn>) =>
  events.map((event) => (event === '[DONE]' ? event : event.name));

describe('a stream of pictures', () => {
  test('has partial pictures, final ones and [DONE]', async () => {
    const { status, type, events, id } = await send({ ...good, n: 2, partial_images: 1 });
    expect(status).toBe(200);
    expect(type).toContain('text/event-stream');
    expect(namesOf(events).filter((name) => name?.includes('complete'))).toEqual([
      'image_generation.complete',
      'image_generation.complete',
    ]);
    expect(namesOf(events)).toContain('image_generation.partial_image');
    expect(events.at(-1)).toBe('[DONE]');
    for (const event of events) {
      if (event !== '[DONE]') expect(event.data['type']).toBe(event.name);
    }
    const row = await rowOf(shared.gateway, id);
    expect(row).toMatchObject({ outcome: 'completed', units: { images: 2 }, cost: '0.08' });
    expect(row.ttft_ms).not.toBeNull();
  });

  test.each([
    ['SDKs', { 'x-stainless-lang': 'js' }],
    ['who asks for them', { 'x-sluice-image-events': 'openai' }],
  ])('has the names of OpenAI for %s', async (_, headers) => {
    const { events } = await send(good, headers);
    expect(namesOf(events)).toEqual(['image_generation.completed', '[DONE]']);
  });

  test('of an upstream with other names and [DONE] is the same', async () => {
    const { events } = await send(good, { 'x-simulator-fault': 'done;literal-events' });
    expect(namesOf(events)).toEqual(['image_generation.complete', '[DONE]']);
  });

  test('is charged once, by the usage of the last final event', async () => {
    const { id } = await send({
      ...good,
      model: 'counted',
      size: '1024x1024',
      n: 2,
      quality: 'medium',
    });
    const row = await rowOf(shared.gateway, id);
    expect(row.units).toMatchObject({ images: 2, output_image_tokens: 2112 });
    expect(row).toMatchObject({ outcome: 'completed', estimated: false });
  });

  test('of a set has final pictures, the last with the usage', async () => {
    const { events, id } = await send({
      model: 'sets',
      prompt: '3 pictures, fail picture 2',
      size: '2K',
      stream: true,
      sequential_image_generation: 'auto',
      sequential_image_generation_options: { max_images: 4 },
    });
    expect(namesOf(events)).toEqual([
      'image_generation.complete',
      'image_generation.complete',
      '[DONE]',
    ]);
    const withUsage = events.map((event) => event !== '[DONE]' && 'usage' in event.data);
    expect(withUsage).toEqual([false, true, false]);
    expect((await rowOf(shared.gateway, id)).units).toMatchObject({ images: 2 });
  });

  test('of a set that fails altogether is an error', async () => {
    const { status, text, id } = await send({
      model: 'sets',
      prompt: 'fail all',
      size: '2K',
      stream: true,
      sequential_image_generation: 'auto',
    });
    expect(status).toBeGreaterThanOrEqual(400);
    expect(text).not.toContain('CANARY');
    expect(await rowOf(shared.gateway, id)).toMatchObject({ outcome: 'failed', cost: null });
  });

  test('of an event of megabytes arrives', async () => {
    const { events, text } = await send(good, { 'x-simulator-fault': 'picture-bytes=20000000' });
    expect(text.length).toBeGreaterThan(25_000_000);
    expect(namesOf(events)).toEqual(['image_generation.complete', '[DONE]']);
  });
});

describe('a stream is the same', () => {
  test.each(['slice=random', 'slice=1', 'crlf', 'comments', 'no-final-blank', 'gap=20'])(
    'from an upstream with %s',
    async (fault) => {
      const body = { ...good, partial_images: 1, n: 2 };
      const plain = await send(body);
      const { events } = await send(body, { 'x-simulator-fault': fault });
      expect(withoutTimes(events)).toEqual(withoutTimes(plain.events));
    },
  );
});

const withoutTimes = (events: ReturnType<typeof eventsIn>) =>
  events.map((event) =>
    event === '[DONE]' ? event : { ...event.data, created_at: 0, name: event.name },
  );

describe('a stream that breaks', () => {
  const errorAtEnd = (events: ReturnType<typeof eventsIn>) => {
    const last = events.at(-1);
    return last === undefined || last === '[DONE]' ? last : last.data['error'];
  };

  test.each(['cut-at=1', 'close-at=1', 'error-at=1'])(
    'after a partial picture ends with an error: %s',
    async (fault) => {
      const body = { ...good, partial_images: 2 };
      const { status, events, text, id } = await send(body, { 'x-simulator-fault': fault });
      expect(status).toBe(200);
      expect(errorAtEnd(events)).toMatchObject({ type: 'api_error' });
      expect(text).not.toContain('[DONE]');
      expect(text).not.toContain('CANARY');
      const row = await rowOf(shared.gateway, id);
      expect(row).toMatchObject({ outcome: 'failed', status: 200, cost: null });
      expect(attemptsOf(row)).toHaveLength(1);
    },
  );

  test.each(['cut-at=0', 'close-at=0', 'error-at=0', 'status=500', 'garbage'])(
    'before anything is shown is 502, and nothing is asked twice: %s',
    async (fault) => {
      const { status, id } = await send(good, { 'x-simulator-fault': fault });
      expect(status).toBe(502);
      expect(attemptsOf(await rowOf(shared.gateway, id))).toHaveLength(1);
    },
  );

  test.each([0, 1])(
    'because its content is refused says so: %s partial pictures',
    async (partials) => {
      const body = { ...good, prompt: 'refuse', partial_images: partials };
      const { events, status, text } = await send(body);
      const error = partials === 0 ? JSON.parse(text).error : errorAtEnd(events);
      expect(status).toBe(partials === 0 ? 400 : 200);
      expect(error).toMatchObject({ code: 'content_policy_violation' });
    },
  );

  test('at a picture above the largest tier shows nothing of it', async () => {
    const headers = { 'x-simulator-fault': 'size=9000x9000' };
    const { status, id } = await send(good, headers);
    expect(status).toBe(502);
    expect(await rowOf(shared.gateway, id)).toMatchObject({ outcome: 'failed', cost: null });
  });

  test('of an event above 64 MiB is 502', async () => {
    own.answer = (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: {"type":"image_generation.completed","b64_json":"');
      const piece = Buffer.alloc(1024 * 1024, 'A');
      response.on('close', () => response.destroy());
      const more = (): void => {
        while (!response.destroyed && response.write(piece));
      };
      response.on('drain', more);
      more();
    };
    const { status, id } = await send({ ...good, model: 'own' });
    expect(status).toBe(502);
    const attempts = attemptsOf(await rowOf(shared.gateway, id));
    expect(attempts).toMatchObject([{ result: 'event-too-large' }]);
  });

  test('without usage is not charged and has no [DONE]', async () => {
    const body = { ...good, model: 'counted', size: '1024x1024' };
    const { events, id } = await send(body, { 'x-simulator-fault': 'usage=missing' });
    expect(errorAtEnd(events)).toMatchObject({ code: 'upstream_error' });
    expect(await rowOf(shared.gateway, id)).toMatchObject({ outcome: 'failed', cost: null });
  });
});

describe('an upstream that does not stream', () => {
  test('is streamed in any case', async () => {
    own.answer = (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const data = [
        { b64_json: b64, size: '64x64' },
        { b64_json: b64, size: '64x64' },
      ];
      response.end(
        JSON.stringify({ created: 1, data, usage: { input_tokens: 1, output_tokens: 2 } }),
      );
    };
    const { events, id } = await send({ ...good, model: 'own' });
    expect(events).toEqual([
      {
        name: 'image_generation.complete',
        data: { type: 'image_generation.complete', b64_json: b64, size: '64x64', created: 1 },
      },
      {
        name: 'image_generation.complete',
        data: expect.objectContaining({ usage: { input_tokens: 1, output_tokens: 2 } }) as object,
      },
      '[DONE]',
    ]);
    expect((await rowOf(shared.gateway, id)).units).toMatchObject({ images: 2 });
  });
});

test('A client that leaves a stream pays for what is made', async () => {
  const gateway = await openGateway({
    config: `
channels:
${channel('slow', 'SIMULATOR/fault(gap=400)', 'demo-image')}
models:
${model('slow', tiers)}
users: [{ email: tester@example.com, balance: 100 }]
keys: [{ name: test, user: tester@example.com, secret: ${testKey} }]
`,
  });
  for (const isBefore of [true, false]) {
    const leaving = new AbortController();
    const asked = fetch(gateway.url + generations, {
      method: 'POST',
      headers: { authorization: `Bearer ${testKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...good, model: 'slow', partial_images: 2 }),
      signal: leaving.signal,
    });
    if (isBefore) await until(() => gateway.simulator.requests().length === 1, 'asked');
    else await (await asked).body?.getReader().read();
    leaving.abort();
    await asked.catch(() => {});
    await until(
      async () => (await gateway.usage()).length === (isBefore ? 1 : 2),
      'the pictures are charged',
    );
  }
  for (const row of await gateway.usage()) {
    expect(row).toMatchObject({ outcome: 'client-left', cost: '0.04', units: { images: 1 } });
  }
});

test('A client that reads nothing is cut off, and pays for what is made', async () => {
  const gateway = await openGateway({
    writeStall: 600,
    config: `
channels:
${channel('large', 'SIMULATOR/fault(picture-bytes=12000000)', 'demo-image')}
models:
${model('large', tiers)}
users: [{ email: tester@example.com, balance: 100 }]
keys: [{ name: test, user: tester@example.com, secret: ${testKey} }]
`,
  });
  const body = { ...good, model: 'large', partial_images: 1, n: 2 };
  const client = await sendRaw(gateway.url, rawPost(generations, body));
  client.socket.pause();
  await until(async () => (await gateway.usage()).length === 1, 'its row', 15_000);
  expect(await gateway.usage()).toMatchObject([
    { outcome: 'client-left', cost: '0.08', units: { images: 2 } },
  ]);
});

test('An event for which there is no memory ends the stream', async () => {
  const gateway = await openGateway({
    config: `
limits: { body_memory: 64MiB }
channels:
${channel('large', 'SIMULATOR/fault(picture-bytes=30000000)', 'demo-image')}
${channel('slow', 'SIMULATOR/fault(first-delay=2500)', 'demo-image')}
models:
${['large', 'slow'].map((id) => model(id, tiers)).join('\n')}
users: [{ email: tester@example.com, balance: 100 }]
keys: [{ name: test, user: tester@example.com, secret: ${testKey} }]
`,
  });
  // A request that is alone gets the memory that it needs.
  const other = gateway.post(generations, { ...good, model: 'slow' });
  await until(() => gateway.simulator.requests().length === 1, 'the other is under way');
  const response = await gateway.post(generations, { ...good, model: 'large' });
  expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1']);
  await response.text();
  expect((await (await other).text()).endsWith('data: [DONE]\n\n')).toBe(true);
  const row = await rowOf(gateway, response.headers.get('x-request-id') ?? '');
  expect(row).toMatchObject({ outcome: 'failed', cost: null });
  expect(attemptsOf(row)).toMatchObject([{ result: 'no-memory' }]);
});

test('OpenAI’s SDK reads streams of generations and edits', async () => {
  const client = new OpenAI({
    baseURL: `${shared.gateway.url}/v1`,
    apiKey: testKey,
    maxRetries: 0,
  });
  const generated = await client.images.generate({
    model: 'counted',
    prompt: 'a house',
    stream: true,
    partial_images: 1,
  });
  const types: string[] = [];
  for await (const event of generated) types.push(event.type);
  expect(types).toEqual(['image_generation.partial_image', 'image_generation.completed']);

  const edited = await client.images.edit({
    model: 'counted',
    prompt: 'a hat',
    image: await toFile(png, 'a.png', { type: 'image/png' }),
    stream: true,
    partial_images: 1,
  });
  const edits: string[] = [];
  for await (const event of edited) edits.push(event.type);
  expect(edits).toEqual(['image_edit.partial_image', 'image_edit.completed']);
});
