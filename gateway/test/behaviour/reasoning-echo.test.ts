import { describe, expect, test } from 'vitest';
import { only, shareGateway } from './support.ts';

/* Tool loops with chat upstreams that think: what they sent as `reasoning_content` returns to them. */

/** The upstream's names decide what the simulator insists on; all of them think. */
const models = {
  deepseek: 'deepseek-v4-reasoning',
  kimi: 'kimi-k2.5-reasoning',
  mimo: 'mimo-v2-reasoning',
  unknown: 'own-reasoning',
  refusing: 'reject-echo-reasoning',
};

const shared = shareGateway({
  config: `
channels:
  - name: chat
    provider: openai-compatible
    base_url: SIMULATOR
    api_key: secret
    models: [${Object.entries(models)
      .map(([name, upstream]) => `{ name: ${name}, upstream: ${upstream} }`)
      .join(', ')}]
models:
${Object.keys(models)
  .map(
    (id) =>
      `  - { id: ${id}, type: chat, price: { input: 1, output: 2 }${id === 'refusing' ? ', echo_reasoning: strip' : ''} }`,
  )
  .join('\n')}
`,
});

interface Sent {
  readonly messages: readonly { readonly role: string; readonly reasoning_content?: string }[];
}

/** The messages of the model in the only request that the upstream got. */
function modelMessages(): Sent['messages'] {
  const { body } = only(shared.gateway.simulator.requests());
  return (JSON.parse(body) as Sent).messages.filter(({ role }) => role === 'assistant');
}

async function post(path: string, body: object) {
  shared.gateway.simulator.clear();
  const response = await shared.gateway.post(path, body);
  const text = await response.text();
  const completed = /^data: \{"type":"response\.completed".*"response":(.*)\}$/m.exec(text);
  const json = JSON.parse(completed?.[1] ?? text) as Record<string, never>;
  return { status: response.status, json };
}

const schema = { type: 'object', properties: { city: { type: 'string' } } };
const question = (at: number) => `${at}: call tool weather`;

/** Two rounds of a tool loop, as the official clients play them. */
const loops = {
  messages: async (model: string) => {
    const tools = [{ name: 'weather', input_schema: schema }];
    const messages: object[] = [{ role: 'user', content: question(1) }];
    const ask = () => post('/v1/messages', { model, max_tokens: 4000, tools, messages });
    const { content } = (await ask()).json as unknown as {
      content: { type: string; id: string }[];
    };
    const call = content.find(({ type }) => type === 'tool_use')!;
    const result = { type: 'tool_result', tool_use_id: call.id, content: 'sunny' };
    messages.push({ role: 'assistant', content }, { role: 'user', content: [result] });
    return ask();
  },
  responses: async (model: string, stream = false) => {
    const tools = [{ type: 'function', name: 'weather', parameters: schema }];
    const input: object[] = [{ role: 'user', content: question(stream ? 4 : 2) }];
    const ask = () => post('/v1/responses', { model, store: false, stream, tools, input });
    const { output } = (await ask()).json as unknown as {
      output: { type: string; call_id: string }[];
    };
    const call = output.find(({ type }) => type === 'function_call')!;
    // Without `include`, so that only the gateway remembers what was thought.
    input.push(call, { type: 'function_call_output', call_id: call.call_id, output: 'sunny' });
    return ask();
  },
  'generate-content': async (model: string) => {
    const tools = [{ functionDeclarations: [{ name: 'weather', parametersJsonSchema: schema }] }];
    const contents: object[] = [{ role: 'user', parts: [{ text: question(3) }] }];
    const path = `/v1beta/models/${model}:generateContent`;
    const ask = () => post(path, { tools, contents });
    const { candidates } = (await ask()).json as unknown as {
      candidates: { content: { parts: object[] } }[];
    };
    const result = { name: 'weather', response: { output: 'sunny' } };
    contents.push(candidates[0]!.content, { role: 'user', parts: [{ functionResponse: result }] });
    return ask();
  },
};
const clients = Object.keys(loops) as (keyof typeof loops)[];

test.each(
  clients.flatMap((client) =>
    ['deepseek', 'kimi', 'mimo', 'unknown'].map((model) => [client, model] as const),
  ),
)('a client of %s: the reasoning of %s returns to it with the result', async (client, model) => {
  const { status } = await loops[client](model);
  expect(status).toBe(200);
  const [message] = modelMessages();
  expect(message?.reasoning_content).toMatch(/\w+ \w+/);
});

test('a streamed response is remembered as well', async () => {
  expect((await loops.responses('deepseek', true)).status).toBe(200);
  expect(modelMessages()[0]?.reasoning_content).toMatch(/\w+ \w+/);
});

test.each(clients)('a client of %s: an upstream that refuses it gets none', async (client) => {
  expect((await loops[client]('refusing')).status).toBe(200);
  expect(modelMessages()[0]).not.toHaveProperty('reasoning_content');
});

describe('a client of chat', () => {
  const tools = [{ type: 'function', function: { name: 'weather', parameters: schema } }];

  interface Message {
    readonly role: string;
    readonly reasoning_content?: string;
    readonly tool_calls: readonly { id: string; function: object }[];
  }

  /** Two rounds of a tool loop. @param keep what the client keeps of the model's message */
  async function loop(
    model: string,
    name: string,
    keep: (message: Message) => object,
    { stream = false, more = {} } = {},
  ) {
    const user = { role: 'user', content: `${name}: call tool weather` };
    const messages: object[] = [user];
    const ask = (form = {}) =>
      shared.gateway.post('/v1/chat/completions', { model, tools, messages, ...more, ...form });
    const answered = await ask({ stream });
    const text = await answered.text();
    const message = stream ? joined(text) : (JSON.parse(text).choices[0].message as Message);
    const id = message.tool_calls[0]!.id;
    messages.push(keep(message), { role: 'tool', tool_call_id: id, content: 'sunny' });
    shared.gateway.simulator.clear();
    const { status, headers } = await ask();
    return { status, rewrites: headers.get('x-sluice-rewrites'), message };
  }

  /** The message of a stream. */
  function joined(text: string): Message {
    let thought = '';
    const calls: { id: string; function: { name: string; arguments: string } }[] = [];
    for (const [, data = ''] of text.matchAll(/^data: (\{.*)$/gm)) {
      const [choice] = JSON.parse(data).choices;
      thought += choice?.delta.reasoning_content ?? '';
      for (const { id, function: called } of choice?.delta.tool_calls ?? []) {
        if (id !== undefined) calls.push({ id, function: { ...called } });
        else calls.at(-1)!.function.arguments += called.arguments;
      }
    }
    const made = calls.map((call) => ({ type: 'function', ...call }));
    return { role: 'assistant', reasoning_content: thought, tool_calls: made };
  }

  const large = {
    type: 'object',
    properties: { city: { type: 'string', enum: ['x'.repeat(300_000)] } },
    required: ['city'],
  };

  const dropping = ({ role, tool_calls: calls }: Message) => ({
    role,
    content: null,
    tool_calls: calls,
  });

  test('that returns the reasoning sends it unchanged', async () => {
    const { status, rewrites, message } = await loop('kimi', 'returns', (whole) => whole);
    expect([status, rewrites]).toEqual([200, null]);
    expect(modelMessages()).toEqual([message]);
  });

  test.each([
    ['drops it', dropping, {}],
    ['drops it from a stream', dropping, { stream: true }],
    ['empties it', (whole: Message) => ({ ...dropping(whole), reasoning_content: '' }), {}],
    // So many values are read in a thread.
    [
      'drops it in a large body',
      dropping,
      { more: { x: Array.from({ length: 20_000 }, () => 0) } },
    ],
    // The arguments are so long that a thread reads the response.
    [
      'drops it from a large response',
      dropping,
      { more: { tools: [{ type: 'function', function: { name: 'weather', parameters: large } }] } },
    ],
  ])('that %s: the gateway returns it', async (name, keep, options) => {
    for (const model of ['deepseek', 'kimi', 'mimo']) {
      const { status, rewrites, message } = await loop(model, name, keep, options);
      expect([status, rewrites]).toEqual([200, 'e1']);
      expect(message.reasoning_content).toMatch(/\w+ \w+/);
      expect(modelMessages()[0]?.reasoning_content).toBe(message.reasoning_content);
    }
  });

  test('whose history another model wrote gets a blank in its place', async () => {
    const call = { id: 'c', type: 'function', function: { name: 'weather', arguments: '{}' } };
    shared.gateway.simulator.clear();
    const response = await shared.gateway.post('/v1/chat/completions', {
      model: 'deepseek',
      tools,
      messages: [
        { role: 'user', content: 'hi' },
        { role: 'assistant', content: 'hello' },
        { role: 'user', content: 'the weather?' },
        { role: 'assistant', content: null, tool_calls: [call] },
        { role: 'tool', tool_call_id: 'c', content: 'sunny' },
      ],
    });
    expect([response.status, response.headers.get('x-sluice-rewrites')]).toEqual([200, 'e1']);
    expect(modelMessages().map((message) => message.reasoning_content)).toEqual([' ', ' ']);
  });

  test('without tools is left alone', async () => {
    shared.gateway.simulator.clear();
    const messages = [
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: 'hello' },
      { role: 'user', content: 'and?' },
    ];
    const response = await shared.gateway.post('/v1/chat/completions', { model: 'kimi', messages });
    expect([response.status, response.headers.get('x-sluice-rewrites')]).toEqual([200, null]);
    expect(modelMessages()).toEqual([messages[1]]);
  });

  test('of an upstream that refuses it sends none', async () => {
    const { status, rewrites } = await loop('refusing', 'refused', (whole) => whole);
    expect([status, rewrites]).toEqual([200, 'e2']);
    expect(modelMessages()[0]).not.toHaveProperty('reasoning_content');
  });
});
