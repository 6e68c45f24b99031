import { describe, expect, test } from 'vitest';
import { rowOf, shareGateway } from '../behaviour/support.ts';
import { testKey } from '../support/gateway.ts';
import { describeServed, protocolNames } from './gateway.ts';

const strictKey = 'sk-strict-0123456789abcdefghijklmnopqr';

const shared = shareGateway({
  config: `${describeServed([
    ...protocolNames.map((name) => ({
      name: `only-${name}`,
      protocols: [name],
      models: [[`at-${name}`, 'demo-chat']] as const,
    })),
    { name: 'thinker', protocols: ['generate-content'], models: [['thinks', 'demo-reasoning']] },
    // A converting channel is preferred, and one that speaks responses comes after it.
    {
      name: 'preferred',
      protocols: ['messages'],
      models: [['mixed', 'demo-chat']],
      more: { priority: 1 },
    },
    { name: 'native', protocols: ['responses'], models: [['mixed', 'demo-chat']] },
    {
      name: 'failing',
      protocols: ['responses'],
      models: [['down', 'demo-chat']],
      at: '/fault(status=529)',
    },
    { name: 'other', protocols: ['messages'], models: [['down', 'demo-chat']] },
  ])}
users:
  - { email: tester@example.com, balance: 100 }
keys:
  - { name: test, user: tester@example.com, secret: ${testKey} }
  - { name: strict, user: tester@example.com, secret: ${strictKey}, conversion: strict }
`,
});

async function post(path: string, body: object, key = testKey) {
  const response = await shared.gateway.post(path, body, { authorization: `Bearer ${key}` });
  return {
    status: response.status,
    lost: response.headers.get('x-sluice-conversion'),
    id: response.headers.get('x-request-id') ?? '',
    text: await response.text(),
  };
}

const paramOf = (text: string) => (JSON.parse(text) as { error: { param: string } }).error.param;
const chat = (model: string, more: object = {}) => ({
  model,
  messages: [{ role: 'user', content: 'hello' }],
  ...more,
});
const responses = (model: string, more: object = {}) => ({ model, input: 'hello', ...more });

describe('an unconvertible part is refused by its own name', () => {
  test.each([
    ['at-messages', { n: 2 }, 'n'],
    ['at-messages', { logprobs: true }, 'logprobs'],
    ['at-responses', { stop: ['x'] }, 'stop'],
    ['at-responses', { n: 2 }, 'n'],
    ['at-messages', { modalities: ['audio'], audio: { voice: 'a', format: 'wav' } }, 'modalities'],
  ])('chat to %s with %j', async (model, more, param) => {
    const response = await post('/v1/chat/completions', chat(model, more));
    expect(response.status).toBe(400);
    expect(paramOf(response.text)).toBe(param);
    expect(await rowOf(shared.gateway, response.id)).toMatchObject({
      outcome: 'refused',
      status: 400,
      attempts: [],
    });
  });

  test.each([
    ['previous_response_id', { previous_response_id: 'resp_1' }],
    ['conversation', { conversation: 'conv_1' }],
    ['background', { background: true, stream: true }],
    ['item_reference', { input: [{ type: 'item_reference', id: 'msg_1' }] }],
  ])('responses with %s: only where it is stored', async (param, more) => {
    for (const model of ['at-chat', 'at-messages', 'at-generate-content']) {
      const response = await post('/v1/responses', responses(model, more));
      expect(response.status).toBe(400);
      expect(paramOf(response.text)).toContain(param);
    }
    const { simulator } = shared.gateway;
    const before = simulator.requests().length;
    await post('/v1/responses', responses('mixed', more));
    const asked = simulator.requests().slice(before);
    expect(asked.map(({ path }) => path)).toEqual(['/v1/responses']);
  });

  test('a client that refers to items learns how to send them instead', async () => {
    const more = { input: [{ type: 'item_reference', id: 'msg_1' }] };
    for (const model of ['at-chat', 'at-messages', 'at-generate-content']) {
      const response = await post('/v1/responses', responses(model, more));
      expect(response.text).toContain(
        'please send the item itself, as clients do with store: false',
      );
    }
  });

  test('a failing channel that could answer is not the client’s fault', async () => {
    const response = await post('/v1/responses', responses('down', { conversation: 'conv_1' }));
    expect(response.status).toBe(529);
  });

  test('K19 a result without its call', async () => {
    const messages = [
      { role: 'user', content: 'hi' },
      { role: 'tool', tool_call_id: 'call_x', content: '1' },
    ];
    const response = await post('/v1/chat/completions', { model: 'at-messages', messages });
    expect(response.status).toBe(400);
    expect(response.text).toContain('call_x');
  });
});

describe('losses are reported', () => {
  const lossy = chat('at-messages', { seed: 7, temperature: 0.5, logit_bias: { 1: 1 } });

  test('in a header and in the row, whole and streamed', async () => {
    for (const stream of [false, true]) {
      const response = await post('/v1/chat/completions', { ...lossy, stream });
      expect(response.status).toBe(200);
      expect(response.lost).toBe('dropped=logit_bias,seed,temperature');
      const row = await rowOf(shared.gateway, response.id);
      expect(row.losses).toEqual(['dropped:logit_bias', 'dropped:seed', 'dropped:temperature']);
    }
  });

  test('without a loss nothing is reported', async () => {
    expect((await post('/v1/chat/completions', chat('at-generate-content'))).lost).toBeNull();
    expect((await post('/v1/responses', responses('at-responses', { x: 1 }))).lost).toBeNull();
  });

  test('a strict key gets a refusal instead, with the field’s own name', async () => {
    const response = await post('/v1/chat/completions', lossy, strictKey);
    expect(response.status).toBe(400);
    expect(paramOf(response.text)).toBe('logit_bias');
    const harmless = await post('/v1/chat/completions', chat('at-messages'), strictKey);
    expect([harmless.status, harmless.lost]).toEqual([200, null]);
  });

  test('a strict key still gets what an upstream of its own protocol can do', async () => {
    const response = await post(
      '/v1/responses',
      responses('mixed', { top_p: 0.5, temperature: 1 }),
      strictKey,
    );
    expect(response.status).toBe(200);
    expect((await rowOf(shared.gateway, response.id)).channel).toBe('native');
  });
});

describe('names and calls that only one side has', () => {
  const patch = {
    type: 'custom',
    name: 'apply_patch',
    description: 'Patches files.',
    format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' },
  };
  const spaced = {
    type: 'namespace',
    name: 'mcp__files',
    description: 'Files.',
    tools: [
      {
        type: 'function',
        name: `read.${'long'.repeat(20)}`,
        parameters: { type: 'object', properties: {} },
      },
    ],
  };

  test.each(['at-messages', 'at-generate-content', 'at-chat'])(
    'K16 custom and namespaced tools at %s come back unchanged',
    async (model) => {
      for (const stream of [false, true]) {
        const response = await post('/v1/responses', {
          ...responses(model, { tools: [patch, spaced], stream }),
          input: 'call tools',
        });
        expect(response.status).toBe(200);
        const json = stream ? completedOf(response.text) : (JSON.parse(response.text) as Completed);
        const [custom, inSpace] = json.output.filter(({ type }) => type.endsWith('call'));
        expect(custom).toMatchObject({ type: 'custom_tool_call', name: 'apply_patch' });
        expect(custom?.input).toMatch(/^demo /);
        expect(inSpace).toMatchObject({
          type: 'function_call',
          name: spaced.tools[0]!.name,
          namespace: 'mcp__files',
        });
        const results = [
          { type: 'custom_tool_call_output', call_id: custom?.call_id, output: 'patched' },
          { type: 'function_call_output', call_id: inSpace?.call_id, output: 'read' },
        ];
        const next = await post('/v1/responses', {
          ...responses(model, { tools: [patch, spaced] }),
          input: [{ role: 'user', content: 'call tools' }, ...json.output, ...results],
        });
        expect(next.text).toContain('patched');
      }
    },
  );
});

interface Completed {
  readonly output: readonly { type: string; call_id?: string; input?: string }[];
}

function completedOf(text: string): Completed {
  const line = text
    .split('\n')
    .find((each) => each.startsWith('data: {"type":"response.completed"'));
  return (JSON.parse(line?.slice(6) ?? '') as { response: Completed }).response;
}

describe('media by URL', () => {
  const seen = (url: string) =>
    chat('at-generate-content', {
      messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }],
    });

  test.each(['http://127.0.0.1:1/a.png', 'https://127.0.0.1/a.png', 'https://169.254.169.254/a'])(
    'S-17 %s is not fetched for an upstream that needs bytes',
    async (url) => {
      const response = await post('/v1/chat/completions', seen(url));
      expect(response.status).toBe(400);
      expect(paramOf(response.text)).toBe('image_url.url');
    },
  );
});

describe('a conversation that moves to another upstream', () => {
  const start = {
    model: 'thinks',
    max_tokens: 4000,
    thinking: { type: 'enabled', budget_tokens: 2000 },
  };
  const first = { role: 'user', content: 'hello' };

  test('K22 drops the reasoning that only the other one understands', async () => {
    const { simulator } = shared.gateway;
    const response = await post('/v1/messages', { ...start, messages: [first] });
    const { content } = JSON.parse(response.text) as {
      content: { type: string; signature?: string }[];
    };
    expect(content[0]).toMatchObject({
      type: 'thinking',
      signature: expect.stringMatching(/^gw2\.[\w-]+$/),
    });

    const messages = [first, { role: 'assistant', content }, { role: 'user', content: 'and now?' }];
    for (const model of ['at-messages', 'at-responses']) {
      const next = await post('/v1/messages', { ...start, model, messages });
      expect([next.status, next.lost]).toEqual([200, expect.stringContaining('reasoning.state')]);
      expect(simulator.requests().at(-1)?.body).not.toContain('gw2.');
    }
    const back = await post('/v1/messages', { ...start, messages });
    expect([back.status, back.lost]).toEqual([200, null]);
  });
});

describe('generate-content without events', () => {
  test('a converted stream is one JSON array', async () => {
    const path = '/v1beta/models/at-messages:streamGenerateContent';
    const response = await post(path, { contents: [{ parts: [{ text: 'hello' }] }] });
    const chunks = JSON.parse(response.text) as { candidates: { finishReason?: string }[] }[];
    expect(chunks.length).toBeGreaterThan(3);
    expect(chunks.at(-1)?.candidates[0]?.finishReason).toBe('STOP');
  });
});
