import { describe, expect, test } from 'vitest';
import { count, said, surfaces, type Surface } from '../behaviour/counting.ts';
import { attemptsOf, rowOf, shareGateway } from '../behaviour/support.ts';
import { testKey } from '../support/gateway.ts';
import { describeServed } from './gateway.ts';
import { shareMediaHost } from './media-host.ts';

const strictKey = 'sk-test-strict-0123456789abcdefghijklmn';
const [messages, generateContent] = surfaces as [Surface, Surface];
const one = (name: string, protocols: readonly string[], more: object = {}) => ({
  name,
  protocols,
  models: [[name, 'demo-chat']] as const,
  ...more,
});
/** Of one model: a channel that is asked first, and one after it. */
const two = (model: string, first: object, second: object) => [
  {
    ...one(`${model}-1`, []),
    models: [[model, 'demo-chat']] as const,
    more: { priority: 1 },
    ...first,
  },
  { ...one(`${model}-2`, []), models: [[model, 'demo-chat']] as const, ...second },
];

const media = shareMediaHost();
const shared = shareGateway({
  mediaFetch: media.mediaFetch,
  config: `${describeServed([
    one('at-chat', ['chat']),
    one('at-responses', ['responses']),
    one('at-both', ['chat', 'responses']),
    one('at-messages', ['messages']),
    one('at-generate-content', ['generate-content']),
    ...two('native-later', { protocols: ['responses'] }, { protocols: ['messages'] }),
    ...two(
      'first-fails',
      { protocols: ['generate-content'], at: '/fault(status=500)' },
      { protocols: ['responses'] },
    ),
    one('all-fail', ['generate-content'], { at: '/fault(status=500)' }),
    one('refuses', ['generate-content'], { at: '/fault(status=400)' }),
    one('no-counter', ['responses'], { at: '/fault(status=404)' }),
  ])}
users:
  - { email: tester@example.com, balance: 100 }
keys:
  - { name: test, user: tester@example.com, secret: ${testKey} }
  - { name: strict, user: tester@example.com, secret: ${strictKey}, conversion: strict }
`,
});

/** Instructions, a tool, its call and its result: whatever is left out of a count shows. */
const whole: Readonly<Record<Surface['name'], object>> = {
  messages: {
    system: 'Be brief.',
    tools: [
      {
        name: 'lookup',
        input_schema: { type: 'object', properties: { what: { type: 'string' } } },
      },
    ],
    messages: [
      { role: 'user', content: said },
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: 'toolu_1', name: 'lookup', input: { what: 'fox' } }],
      },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'an animal' }],
      },
    ],
  },
  'generate-content': {
    systemInstruction: { parts: [{ text: 'Be brief.' }] },
    tools: [{ functionDeclarations: [{ name: 'lookup', parameters: { type: 'OBJECT' } }] }],
    contents: [
      { role: 'user', parts: [{ text: said }] },
      { role: 'model', parts: [{ functionCall: { name: 'lookup', args: { what: 'fox' } } }] },
      {
        role: 'user',
        parts: [{ functionResponse: { name: 'lookup', response: { output: 'an animal' } } }],
      },
    ],
  },
};

function countBody({ name }: Surface, model: string): object {
  const request = whole[name];
  return name === 'messages'
    ? { model, ...request }
    : { generateContentRequest: { model: `models/${model}`, ...request } };
}

/** The input that the upstream reports for a response to the same. */
async function answeredInput({ name }: Surface, model: string): Promise<number> {
  const isMessages = name === 'messages';
  const path = isMessages ? '/v1/messages' : `/v1beta/models/${model}:generateContent`;
  const body = isMessages ? { model, max_tokens: 100, ...whole[name] } : whole[name];
  const response = await shared.gateway.post(path, body);
  expect(response.status).toBe(200);
  await response.text();
  const { tokens } = await rowOf(shared.gateway, response.headers.get('x-request-id') ?? '');
  return tokens.input + tokens.cache_read + tokens.cache_write;
}

const pairs: readonly (readonly [Surface, model: string, address: RegExp])[] = [
  [messages, 'at-generate-content', /:countTokens$/],
  [messages, 'at-responses', /\/v1\/responses\/input_tokens$/],
  [messages, 'at-both', /\/v1\/responses\/input_tokens$/],
  [generateContent, 'at-messages', /\/v1\/messages\/count_tokens$/],
  [generateContent, 'at-responses', /\/v1\/responses\/input_tokens$/],
];

describe.each(pairs.map(([surface, model, address]) => ({ surface, model, address })))(
  '$surface.name, counted $model',
  ({ surface, model, address }) => {
    test('is converted for the counter, and its number is returned', async () => {
      const { gateway } = shared;
      const counted = await count(gateway, surface, model, countBody(surface, model));
      expect(counted).toMatchObject({ status: 200, estimated: null });
      expect(counted.members).toEqual([surface.member]);
      expect(gateway.simulator.requests().at(-1)?.path).toMatch(address);
      if (model !== 'at-both') expect(counted.tokens).toBe(await answeredInput(surface, model));
      expect(await rowOf(gateway, counted.id)).toMatchObject({
        outcome: 'completed',
        channel: model,
        tokens: { input: 0, output: 0 },
        cost: null,
        attempts: [{ channel: model, result: 'completed' }],
      });
    });
  },
);

test('is estimated where only chat is available', async () => {
  for (const surface of surfaces) {
    const before = shared.gateway.simulator.requests().length;
    const counted = await count(shared.gateway, surface, 'at-chat');
    expect(counted).toMatchObject({ status: 200, estimated: '1' });
    expect(shared.gateway.simulator.requests()).toHaveLength(before);
  }
});

test('prefers a counter of the client’s own protocol, whatever its priority', async () => {
  const counted = await count(shared.gateway, messages, 'native-later');
  const row = await rowOf(shared.gateway, counted.id);
  expect(attemptsOf(row).map(({ channel }) => channel)).toEqual(['native-later-2']);
});

test('uses another counter if the first fails, and then the estimate', async () => {
  const { gateway } = shared;
  const second = await count(gateway, messages, 'first-fails');
  expect(second).toMatchObject({ status: 200, estimated: null });
  expect(attemptsOf(await rowOf(gateway, second.id)).map(({ channel }) => channel)).toEqual([
    'first-fails-1',
    'first-fails-2',
  ]);

  const none = await count(gateway, messages, 'all-fail');
  expect(none).toMatchObject({ status: 200, estimated: '1', losses: null });
  expect(await rowOf(gateway, none.id)).toMatchObject({
    outcome: 'completed',
    channel: null,
    losses: [],
    attempts: [{ channel: 'all-fail' }],
  });
});

test('is no client error if a counter rejects the converted request', async () => {
  for (const model of ['refuses', 'no-counter']) {
    const counted = await count(shared.gateway, messages, model);
    expect(counted).toMatchObject({ status: 200, estimated: '1' });
  }
});

describe('a request that no channel could answer is refused in the same words', () => {
  test.each([
    ['at-generate-content', { container: 'c_1' }, testKey],
    ['at-chat', { container: 'c_1' }, testKey],
    ['at-responses', { tools: [], thinking: { type: 'enabled', budget_tokens: 2000 } }, strictKey],
  ])('%s with %j', async (model, more, key) => {
    const headers = { authorization: `Bearer ${key}` };
    const body = { ...messages.body(model, said), ...more };
    const before = shared.gateway.simulator.requests().length;
    const counted = await shared.gateway.post(messages.path(model), body, headers);
    const asked = { max_tokens: 5000, ...body };
    const answered = await shared.gateway.post('/v1/messages', asked, headers);
    expect([counted.status, answered.status]).toEqual([400, 400]);
    const errorOf = async (response: Response) =>
      ((await response.json()) as { error: unknown }).error;
    expect(await errorOf(counted)).toEqual(await errorOf(answered));
    expect(shared.gateway.simulator.requests()).toHaveLength(before);
    const id = counted.headers.get('x-request-id') ?? '';
    expect(await rowOf(shared.gateway, id)).toMatchObject({ outcome: 'refused', status: 400 });
  });

  test('an output limit that the client could not name is no loss', async () => {
    const headers = { authorization: `Bearer ${strictKey}` };
    const body = generateContent.body('at-messages', said);
    const counted = await shared.gateway.post(generateContent.path('at-messages'), body, headers);
    expect(counted.status).toBe(200);
  });
});

test('no media are fetched for a count', async () => {
  const before = shared.gateway.simulator.requests().length;
  const counted = await count(shared.gateway, messages, 'at-generate-content', {
    model: 'at-generate-content',
    messages: [
      { role: 'user', content: [{ type: 'image', source: { type: 'url', url: media.image } }] },
    ],
  });
  expect(counted).toMatchObject({ status: 200, estimated: '1' });
  expect(media.fetched()).toBe(0);
  expect(shared.gateway.simulator.requests()).toHaveLength(before);
});

test('a counter of the client’s own protocol does not receive reasoning sealed for another one', async () => {
  const sealed = { type: 'thinking', thinking: 'hm', signature: `gw2.${'A'.repeat(90)}` };
  const counted = await count(shared.gateway, messages, 'at-messages', {
    model: 'at-messages',
    messages: [
      { role: 'user', content: said },
      { role: 'assistant', content: [sealed, { type: 'text', text: 'So?' }] },
      { role: 'user', content: said },
    ],
  });
  const losses = 'dropped=reasoning.state';
  expect(counted).toMatchObject({ status: 200, estimated: null, losses });
});
