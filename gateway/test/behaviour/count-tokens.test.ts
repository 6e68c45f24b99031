import { setTimeout as wait } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from 'vitest';
import { channel, count, said, surfaces, type Surface } from './counting.ts';
import {
  ask,
  attemptsOf,
  describeChannels,
  only,
  openGateway,
  rowOf,
  shareGateway,
} from './support.ts';
import { textProtocols } from './text-protocols.ts';

const messages = textProtocols.find(({ name }) => name === 'messages')!;

const everyone = 'chat, responses, messages, generate-content';
/** More failures in a row than eject a channel, and then it is well. */
const attempts = 6;
/** Counter failures; none of them is the client's fault. */
const failures = [
  'status=404',
  'status=405',
  'status=401',
  'status=403',
  'status=429',
  'status=500',
  'status=529',
  'garbage',
  'html',
  'empty',
  'redirect',
  'close-early',
];

describe('without a counting upstream', () => {
  const shared = shareGateway({
    config: `
channels:
${channel('chat-only', '', 'chat')}
${channel('gpt-4o', '', 'chat')}
${channel('claude-sonnet-4-5', '', 'chat')}
models:
  - { id: chat-only, type: chat, price: { input: 1, output: 2 } }
  - { id: gpt-4o, type: chat, price: { input: 1, output: 2 } }
  - { id: claude-sonnet-4-5, type: chat, price: { input: 1, output: 2 } }
`,
  });

  // On a busy machine the vocabulary may take longer to load than the first count waits for it.
  beforeAll(async () => {
    const [surface] = surfaces as [Surface];
    while ((await count(shared.gateway, surface, 'gpt-4o')).tokens !== 17) await wait(20);
  });

  test.each(surfaces)(
    'K49 $name: the response is an estimate, marked as one, free of charge',
    async (surface) => {
      const counted = await count(shared.gateway, surface, 'gpt-4o');
      // Ten words and what a message takes around them.
      expect(counted).toMatchObject({ status: 200, tokens: 17, estimated: '1' });
      expect(counted.members).toEqual([surface.member]);
      expect(await rowOf(shared.gateway, counted.id)).toMatchObject({
        outcome: 'completed',
        status: 200,
        channel: null,
        tokens: { input: 0, output: 0 },
        cost: null,
        attempts: [],
      });
    },
  );

  test.each(surfaces)(
    '$name: other models get other estimates for the same text',
    async (surface) => {
      const tokens = async (model: string) => {
        const { tokens: counted } = await count(shared.gateway, surface, model);
        return counted as number;
      };
      expect(await tokens('claude-sonnet-4-5')).toBeGreaterThan(await tokens('gpt-4o'));
      expect(await tokens('chat-only')).toBeGreaterThan(await tokens('gpt-4o'));
      expect(shared.gateway.simulator.requests()).toEqual([]);
    },
  );

  test('system prompts, tools and images raise the estimate', async () => {
    const { gateway } = shared;
    const [surface] = surfaces as [Surface];
    const plain = surface.body('gpt-4o', said);
    const tool = {
      name: 'lookup',
      description: 'Looks something up.',
      input_schema: { type: 'object', properties: { what: { type: 'string' } } },
    };
    // A PNG of 2048 × 4096 pixels, reduced to its header.
    const png = Buffer.from('89504e470d0a1a0a0000000d49484452000008000000100008020000', 'hex');
    const image = {
      type: 'image',
      source: { type: 'base64', media_type: 'image/png', data: png.toString('base64') },
    };
    const tokens = async (body: unknown) =>
      (await count(gateway, surface, 'gpt-4o', body)).tokens as number;
    const alone = await tokens(plain);
    expect(await tokens({ ...plain, system: said })).toBe(alone + 10 + 5);
    expect(await tokens({ ...plain, tools: [tool] })).toBeGreaterThan(alone + 30);
    expect(await tokens({ ...plain, messages: [{ role: 'user', content: [image] }] })).toBe(
      1105 + 7,
    );
  });

  test('a wrapped request counts like the request it wraps', async () => {
    const [, surface] = surfaces as [Surface, Surface];
    const generateContentRequest = { model: 'models/gpt-4o', ...surface.body('gpt-4o', said) };
    const counted = await count(shared.gateway, surface, 'gpt-4o', { generateContentRequest });
    expect(counted).toMatchObject({ status: 200, tokens: 17 });
  });

  test('many concurrent counts are all answered', async () => {
    const [surface] = surfaces as [Surface];
    const burst = Array.from({ length: 26 }, (_, at) =>
      count(shared.gateway, surface, 'gpt-4o', surface.body('gpt-4o', said.repeat(at + 1))),
    );
    const counts = (await Promise.all(burst)).map(({ tokens }) => tokens as number);
    expect(counts).toEqual(counts.toSorted((a, b) => a - b));
    expect(new Set(counts).size).toBe(26);
  });

  test('a large body is counted in time, and nobody else waits', async () => {
    const [surface] = surfaces as [Surface];
    const body = JSON.stringify(
      surface.body('gpt-4o', `${said} ${'的x '.repeat(20)}`.repeat(14_000)),
    );
    expect(body.length).toBeGreaterThan(1_400_000);
    await count(shared.gateway, surface, 'gpt-4o');
    const large = { isOver: false };
    const counting = count(shared.gateway, surface, 'gpt-4o', body).finally(() => {
      large.isOver = true;
    });
    let meanwhile = 0;
    while (!large.isOver) {
      expect((await fetch(`${shared.gateway.url}/health`)).status).toBe(200);
      meanwhile += 1;
    }
    const counted = await counting;
    expect(counted).toMatchObject({ status: 200, estimated: '1' });
    expect(counted.tokens).toBeGreaterThan(400_000);
    // Counting takes most of a second, and each of them some milliseconds: on the same thread it would be one or two.
    expect(meanwhile).toBeGreaterThan(10);
  });
});

describe('a bad count request gets the same error as a generation', () => {
  const shared = shareGateway({
    config: `
channels:
${channel('chat-only', '', 'chat')}
models:
  - { id: chat-only, type: chat, price: { input: 1, output: 2 } }
`,
  });
  const bodies: readonly (readonly [string, unknown, number])[] = [
    ['no JSON', '{"model":', 400],
    ['no object', '[1]', 400],
    ['nothing', '{}', 400],
    ['no conversation', { model: 'chat-only' }, 400],
    ['a duplicate', '{"model":"chat-only","model":"x","messages":[]}', 400],
    ['an unknown model', { model: 'no-such', messages: [{ role: 'user', content: 'x' }] }, 400],
    ['an unknown role', { model: 'chat-only', messages: [{ role: 'nobody', content: 'x' }] }, 400],
    ['content of no kind', { model: 'chat-only', messages: [{ role: 'user', content: 7 }] }, 400],
    ['tools of no kind', { model: 'chat-only', messages: [], tools: 'x' }, 400],
  ];
  test.each(bodies)('%s', async (_name, body, status) => {
    const counted = await shared.gateway.post('/v1/messages/count_tokens', body);
    const generated = await shared.gateway.post('/v1/messages', body);
    expect([counted.status, generated.status]).toEqual([status, status]);
    const error = (await counted.json()) as { request_id: string };
    expect(messages.errorMessage(error)).toBe(messages.errorMessage(await generated.json()));
  });
});

describe('with a counting upstream', () => {
  // Channels for each surface: a counter that has failed is not asked again soon.
  const shared = shareGateway({
    config: describeChannels([
      { name: 'sim', models: ['demo-chat'] },
      ...surfaces.flatMap(({ name }) => [
        {
          name: `bad ${name}`,
          at: '/fault(status=500)',
          models: [`twice-${name} -> demo-chat`],
          more: ['priority: 1'],
        },
        { name: `good ${name}`, models: [`twice-${name} -> demo-chat`] },
        {
          name: `strict ${name}`,
          at: '/fault(status=400)',
          models: [`strict-${name} -> demo-chat`],
        },
      ]),
      {
        name: 'without a counter',
        at: '/fault(status=500)',
        models: ['failing -> demo-chat'],
        protocols: ['messages'],
      },
    ]),
  });

  test.each(surfaces)(
    '$name: the upstream’s count is the response, and its channel is in the row',
    async (surface) => {
      const { gateway } = shared;
      const counted = await count(gateway, surface, 'demo-chat');
      expect(counted).toMatchObject({ status: 200, tokens: expect.any(Number), estimated: null });
      expect(await rowOf(gateway, counted.id)).toMatchObject({
        outcome: 'completed',
        channel: 'sim',
        cost: null,
        attempts: [{ channel: 'sim', result: 'completed' }],
      });
    },
  );

  test.each(surfaces)('$name: another counter responds if the first fails', async (surface) => {
    const { gateway } = shared;
    const counted = await count(gateway, surface, `twice-${surface.name}`);
    expect(counted).toMatchObject({ status: 200, estimated: null });
    expect(attemptsOf(await rowOf(gateway, counted.id)).map(({ channel: each }) => each)).toEqual([
      `bad ${surface.name}`,
      `good ${surface.name}`,
    ]);
  });

  test.each(surfaces)('$name: the client’s own mistake stays a client error', async (surface) => {
    const { gateway } = shared;
    const counted = await count(gateway, surface, `strict-${surface.name}`);
    expect([counted.status, counted.tokens, counted.estimated]).toEqual([400, undefined, null]);
    expect(await rowOf(gateway, counted.id)).toMatchObject({ outcome: 'failed', status: 400 });
  });

  // So many values are read in a thread.
  test.each([0, 20_000])(
    'parts that only the upstream understands, and %d values, are estimated if its counter fails',
    async (extra) => {
      const { gateway } = shared;
      const [surface] = surfaces as [Surface];
      const x = Array.from({ length: extra }, () => 0);
      const body = { model: 'failing', messages: [{ role: 'nobody', content: said }], x };
      const counted = await count(gateway, surface, 'failing', body);
      expect(counted).toMatchObject({ status: 200, estimated: '1' });
      expect(counted.tokens).toBeGreaterThan(9 + x.length / 2);
    },
  );
});

describe.each(surfaces)('$name: a failing counter', (surface) => {
  const names = failures.map((fault) => `m-${fault.replaceAll('=', '-')}`);
  /** The log's warnings about ejected channels and resting credentials and models. */
  const warnings: string[] = [];
  const shared = shareGateway({
    logger: { warn: (message) => void warnings.push(message) },
    config: `
channels:
${names
  .map((name, at) =>
    [
      `  - name: "${name}"`,
      '    provider: simulator',
      `    base_url: "SIMULATOR/fault(${failures[at]};times=${attempts};id=${name})"`,
      `    protocols: [${everyone}]`,
      '    models:',
      ...Array.from(
        { length: attempts },
        (_, turn) => `      - { name: "${name}-${turn}", upstream: demo-chat-${turn} }`,
      ),
    ].join('\n'),
  )
  .join('\n')}
models:
${names
  .flatMap((name) =>
    Array.from(
      { length: attempts },
      (_, turn) => `  - { id: "${name}-${turn}", type: chat, price: { input: 1, output: 2 } }`,
    ),
  )
  .join('\n')}
`,
  });
  const sent = (name: string) =>
    shared.gateway.simulator.requests().filter(({ path }) => path.includes(`id=${name})`)).length;

  test.each(names)(
    'K49 %s: the count is an estimate, and the channel stays healthy',
    async (name) => {
      const { gateway } = shared;
      const ids: string[] = [];
      for (let turn = 0; turn < attempts; turn += 1) {
        const counted = await count(gateway, surface, `${name}-${turn}`);
        expect(counted).toMatchObject({ status: 200, estimated: '1', tokens: expect.any(Number) });
        ids.push(counted.id);
      }
      expect(warnings).toEqual([]);
      const answered = await ask(gateway, messages, false, `${name}-0`);
      expect(answered.status).toBe(200);
      expect(attemptsOf(await rowOf(gateway, answered.id))).toMatchObject([
        { channel: name, result: 'completed' },
      ]);
      const rows = await gateway.usage(attempts + 1);
      for (const id of ids) {
        const row = only(rows.filter((each) => each.id === id));
        expect(row).toMatchObject({ outcome: 'completed', channel: null, cost: null });
        expect(attemptsOf(row)).toMatchObject([{ channel: name }]);
      }
    },
  );

  test('is not called for every request', async () => {
    const name = names[0]!;
    const before = sent(name);
    for (let turn = 0; turn < 5; turn += 1) {
      expect(await count(shared.gateway, surface, `${name}-1`)).toMatchObject({ estimated: '1' });
    }
    expect(sent(name)).toBe(before);
  });
});

test('is not waited for if it stays silent', async () => {
  const gateway = await openGateway({
    config: `
channels:
${channel('demo-chat', '/fault(stall)', 'messages')}
`,
  });
  const [surface] = surfaces as [Surface];
  const asked = () => gateway.simulator.requests().length;
  expect(await count(gateway, surface, 'demo-chat')).toMatchObject({ status: 200, estimated: '1' });
  expect(asked()).toBe(1);
  // And not asked at all the next time.
  expect(await count(gateway, surface, 'demo-chat')).toMatchObject({ estimated: '1' });
  expect(asked()).toBe(1);
});

test('a resting channel is not asked to count', async () => {
  const gateway = await openGateway({
    config: `
channels:
${channel('demo-chat', '/fault(status=500)', everyone)}
`,
  });
  const [surface] = surfaces as [Surface];
  for (let turn = 0; turn < 6; turn += 1) await ask(gateway, messages, false);
  const before = gateway.simulator.requests().length;
  expect(await count(gateway, surface, 'demo-chat')).toMatchObject({ status: 200, estimated: '1' });
  expect(gateway.simulator.requests().length).toBe(before);
});

test('a counter that breaks connections does not rest its channel', async () => {
  const models = Array.from({ length: attempts }, (_, turn) => `m-${turn}`);
  const warnings: string[] = [];
  const gateway = await openGateway({
    logger: { warn: (message) => void warnings.push(message) },
    config: describeChannels([
      { name: 'sim', models: models.map((model) => `${model} -> demo-chat-${model}`) },
    ]),
  });
  const [surface] = surfaces as [Surface];
  gateway.simulator.setFault('refuse');
  for (const model of models) {
    expect(await count(gateway, surface, model)).toMatchObject({ status: 200, estimated: '1' });
  }
  gateway.simulator.setFault('');
  expect(warnings).toEqual([]);
  expect((await ask(gateway, messages, false, 'm-0')).status).toBe(200);
});
