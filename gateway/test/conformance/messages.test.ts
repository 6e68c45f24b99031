import Anthropic from '@anthropic-ai/sdk';
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema';
import { describe, expect, it } from 'vitest';
import {
  canary,
  failureOf,
  pixel,
  question,
  readAll,
  received,
  testKey,
  textOf,
  useGateway,
} from './conformance-gateway.ts';

const gateway = useGateway();

function client(options: ConstructorParameters<typeof Anthropic>[0] = {}): Anthropic {
  return new Anthropic({ apiKey: testKey, baseURL: gateway().url, maxRetries: 0, ...options });
}

const messages = [{ role: 'user' as const, content: question }];
const plain = { model: 'demo-chat', max_tokens: 1000, messages };

const weather = {
  name: 'get_weather',
  description: 'Tells the weather',
  input_schema: { type: 'object' as const, properties: { city: { type: 'string' } } },
};
const clock = { name: 'get_time', input_schema: { type: 'object' as const } };
const tools = [weather, clock];

type Create = Anthropic.MessageCreateParamsNonStreaming;
const whole = (params: Create): Promise<Anthropic.Message> => client().messages.create(params);
const streamed = (params: Create): Promise<Anthropic.Message> =>
  client().messages.stream(params).finalMessage();
const ways = [
  ['whole', whole],
  ['streamed', streamed],
] as const;

const textIn = ({ content }: Anthropic.Message) =>
  content.map((block) => (block.type === 'text' ? block.text : '')).join('');

function toolUses({ content }: Anthropic.Message): Anthropic.ToolUseBlock[] {
  return content.filter((block): block is Anthropic.ToolUseBlock => block.type === 'tool_use');
}

async function eventsOf(params: Partial<Create> = {}) {
  return readAll(await client().messages.create({ ...plain, ...params, stream: true }));
}

describe('messages with the official SDK: answers', () => {
  it('plain', async () => {
    const response = await whole(plain);
    expect(textIn(response)).toContain(question);
    expect(response).toMatchObject({ stop_reason: 'end_turn', model: 'demo-chat' });
    expect(response.usage.input_tokens).toBe(Math.ceil(question.length / 4));
    const { request_id } = await client().messages.create(plain).withResponse();
    expect(request_id).toMatch(/^req_.{24}$/);
  });

  it('what the SDK sends reaches the upstream unchanged, with its headers', async () => {
    const params = {
      ...plain,
      system: [{ type: 'text' as const, text: 's', cache_control: { type: 'ephemeral' as const } }],
      metadata: { user_id: 'u' },
      x_unknown: { deep: [1.0] },
    };
    const headers = { 'anthropic-beta': 'interleaved-thinking-2025-05-14' };
    await client().messages.create(params as Create, { headers });
    expect(received(gateway()).body).toBe(JSON.stringify(params));
    const sent = Object.fromEntries(received(gateway()).headers);
    expect(sent).toMatchObject({ 'anthropic-version': '2026-10-21', ...headers });
    expect(JSON.stringify(sent)).not.toContain(testKey);
  });

  it('streamed: every event of the protocol, and the same text', async () => {
    const { items, error } = await eventsOf();
    expect(error).toBeNull();
    const types = items.map(({ type }) => type);
    expect(types.slice(0, 2)).toEqual(['message_start', 'content_block_start']);
    expect(types.slice(-3)).toEqual(['content_block_stop', 'message_delta', 'message_stop']);
    const text = items.map((event) =>
      event.type === 'content_block_delta' && event.delta.type === 'text_delta'
        ? event.delta.text
        : '',
    );
    expect(text.join('')).toBe(textIn(await whole(plain)));
  });

  it('the stream helper', async () => {
    const stream = client().messages.stream(plain);
    let text = '';
    stream.on('text', (delta) => (text += delta));
    const final = await stream.finalMessage();
    expect(textIn(final)).toBe(text);
    expect(final.usage).toMatchObject({ output_tokens: (await whole(plain)).usage.output_tokens });
  });

  it.each(ways)('a system prompt counts, %s', async (_, ask) => {
    const response = await ask({ ...plain, system: 'x'.repeat(400) });
    expect(response.usage.input_tokens).toBe(100 + Math.ceil(question.length / 4));
  });

  it.each(ways)('cache counts stay apart, %s', async (_, ask) => {
    const cache_control = { type: 'ephemeral' as const };
    const system = [{ type: 'text' as const, text: 's'.repeat(400), cache_control }];
    const response = await ask({ ...plain, system });
    expect(response.usage).toMatchObject({ cache_creation_input_tokens: 100 });
    const [row] = await gateway().usage();
    expect(row?.tokens).toMatchObject({
      cache_write: 100,
      input: Math.ceil(question.length / 4),
      output: response.usage.output_tokens,
    });
  });

  it('images', async () => {
    const source = { type: 'base64' as const, media_type: 'image/png' as const, data: pixel };
    const content = [{ type: 'image' as const, source }];
    const response = await whole({ ...plain, messages: [{ role: 'user', content }] });
    expect(textIn(response)).toContain('1 image');
  });

  it.each(ways)('a length stop, %s', async (_, ask) => {
    const response = await ask({ ...plain, max_tokens: 5 });
    expect(response).toMatchObject({ stop_reason: 'max_tokens', usage: { output_tokens: 5 } });
  });

  it.each(ways)('a stop sequence and a refusal, %s', async (_, ask) => {
    const stopped = await ask({ ...plain, stop_sequences: ['demo'] });
    expect(stopped).toMatchObject({ stop_reason: 'stop_sequence', stop_sequence: 'demo' });
    const refused = await ask({ ...plain, messages: [{ role: 'user', content: 'refuse' }] });
    expect(refused.stop_reason).toBe('refusal');
  });

  it('max_tokens is filled in, and lowered to the model’s limit', async () => {
    const { max_tokens: _, ...without } = plain;
    const ask = (params: object) =>
      client()
        .messages.create(params as Create)
        .withResponse();
    const filled = await ask({ ...without, model: 'fast' });
    expect(received(gateway()).json).toMatchObject({ max_tokens: 9000 });
    expect(filled.response.headers.get('x-sluice-rewrites')).toBe('b2');
    const cut = await ask({ ...plain, model: 'fast', max_tokens: 20_000 });
    expect(received(gateway()).json).toMatchObject({ max_tokens: 9000 });
    expect(cut.response.headers.get('x-sluice-rewrites')).toBe('b2');
    const kept = await ask({ ...plain, model: 'fast', max_tokens: 4000 });
    expect(received(gateway()).json).toMatchObject({ max_tokens: 4000 });
    expect(kept.response.headers.get('x-sluice-rewrites')).toBeNull();
  });

  it('temperature, which current models refuse, is removed and reported', async () => {
    // The SDK no longer has the field; older ones send it.
    const older = { ...plain, temperature: 0.5 } as Create;
    const asked = client().messages.create(older);
    const { response } = await asked.withResponse();
    expect(received(gateway()).json).toEqual(plain);
    expect(response.headers.get('x-sluice-rewrites')).toBe('b1');
  });

  it('count_tokens', async () => {
    const request = { model: 'demo-chat', system: 'Be brief.', messages, tools };
    const counted = await client().messages.countTokens(request);
    const answered = await whole({ ...request, max_tokens: 100 });
    expect(counted).toEqual({ input_tokens: answered.usage.input_tokens });
    expect(await client().messages.countTokens({ ...request, model: 'fast' })).toEqual(counted);
  });

  it('beta endpoints', async () => {
    const response = await client().beta.messages.create({ ...plain, betas: ['token-efficient'] });
    expect(response.stop_reason).toBe('end_turn');
    expect(Object.fromEntries(received(gateway()).headers)).toMatchObject({
      'anthropic-beta': 'token-efficient',
    });
  });
});

describe('messages with the official SDK: tools and thinking', () => {
  const results = (response: Anthropic.Message): Anthropic.MessageParam => ({
    role: 'user',
    content: toolUses(response).map(({ id, name }) => ({
      type: 'tool_result',
      tool_use_id: id,
      content: `${name} ok`,
    })),
  });

  it.each(ways)('one call, parallel calls and their results, %s', async (_, ask) => {
    for (const [content, names] of [
      ['call tool get_time', ['get_time']],
      ['call tools', ['get_weather', 'get_time']],
    ] as const) {
      const asked = [{ role: 'user' as const, content }];
      const first = await ask({ ...plain, tools, messages: asked });
      expect(first.stop_reason).toBe('tool_use');
      expect(toolUses(first).map(({ name }) => name)).toEqual(names);
      expect(toolUses(first).at(-1)?.input).toEqual({});
      const assistant = { role: 'assistant' as const, content: first.content };
      const last = await ask({ ...plain, tools, messages: [...asked, assistant, results(first)] });
      expect(textIn(last)).toContain(names.map((name) => `"${name} ok"`).join(' and '));
    }
  });

  it('the input of a call arrives complete', async () => {
    const asked = [{ role: 'user' as const, content: 'call tool get_weather' }];
    const responses = await Promise.all(
      ways.map(([, ask]) => ask({ ...plain, tools, messages: asked })),
    );
    for (const response of responses)
      expect(toolUses(response)[0]?.input).toEqual({ city: 'demo city' });
  });

  it.each([true, false])('the tool runner completes its loop, stream %s', async (stream) => {
    const called: string[] = [];
    const runnable = tools.map(({ name }) =>
      betaTool({
        name,
        description: name,
        inputSchema: { type: 'object', properties: { city: { type: 'string' } } },
        run: () => {
          called.push(name);
          return `${name} is done`;
        },
      }),
    );
    const content = 'call tool get_weather and then call tool get_time';
    // With a thread the conversation is stored at the vendor, which the simulator does not imitate.
    const runner = client().beta.messages.toolRunner({
      ...plain,
      messages: [{ role: 'user', content }],
      tools: runnable,
      thread: false,
      stream,
    });
    const last = await runner.runUntilDone();
    expect(last.content).toMatchObject([{ text: expect.stringContaining('get_time is done') }]);
    expect(called).toEqual(['get_weather', 'get_time']);
  });

  it.each([
    ['whole', whole, { type: 'enabled' as const, budget_tokens: 1024 }],
    ['streamed', streamed, { type: 'enabled' as const, budget_tokens: 1024 }],
    ['whole', whole, { type: 'adaptive' as const }],
    ['streamed', streamed, { type: 'adaptive' as const }],
  ])('signed thinking comes back over several turns, %s', async (_, ask, thinking) => {
    const params = { ...plain, model: 'demo-reasoning', max_tokens: 4000, thinking, tools };
    const content = 'call tool get_weather and then call tool get_time';
    const history: Anthropic.MessageParam[] = [{ role: 'user', content }];
    for (const name of ['get_weather', 'get_time']) {
      const response = await ask({ ...params, messages: history });
      const [thought] = response.content;
      expect(thought).toMatchObject({
        type: 'thinking',
        thinking: expect.stringContaining('demo thinks'),
        signature: expect.stringMatching(/.{20}/),
      });
      expect(toolUses(response)).toMatchObject([{ name }]);
      history.push({ role: 'assistant', content: response.content }, results(response));
    }
    const last = await ask({ ...params, messages: history });
    expect(textIn(last)).toContain('get_time ok');
    // The simulator refuses a signature that is not its own, so it has seen ours unchanged.
    const forged = JSON.parse(
      JSON.stringify(history).replace(/"signature":"./, '"signature":"!'),
    ) as typeof history;
    const refusal = await failureOf(ask({ ...params, messages: forged }));
    expect(refusal).toBeInstanceOf(Anthropic.BadRequestError);
    expect(textOf(refusal)).toContain('the model rejected the request');
  });
});

describe('messages with the official SDK: errors', () => {
  const ask = (model: string, options = {}) =>
    failureOf(client(options).messages.create({ ...plain, model }));
  const body = (type: string, message: string) => ({
    type: 'error',
    error: { type, message },
    request_id: expect.stringMatching(/^req_/),
  });

  it('a wrong key', async () => {
    const error = await ask('demo-chat', { apiKey: 'sk-wrong-0123456789abcdefghijklmnop' });
    expect(error).toBeInstanceOf(Anthropic.AuthenticationError);
    expect(error).toMatchObject({ error: body('authentication_error', 'invalid api key') });
  });

  it('a key as bearer token', async () => {
    const bearer = client({ apiKey: null, authToken: testKey });
    expect((await bearer.messages.create(plain)).stop_reason).toBe('end_turn');
  });

  it('no model, no messages, an unknown model', async () => {
    const create = (params: object) => failureOf(client().messages.create(params as Create));
    const { model: _, ...without } = plain;
    expect(await create(without)).toMatchObject({
      status: 400,
      error: body('invalid_request_error', 'model is required'),
    });
    expect(await create({ model: 'demo-chat', max_tokens: 5 })).toMatchObject({
      error: body('invalid_request_error', 'messages is required'),
    });
    expect(await ask('no-such-model')).toBeInstanceOf(Anthropic.BadRequestError);
    expect((await ask('lost')).message).toContain("model 'lost' is not available");
  });

  it('every channel limited: 429 with the shorter wait', async () => {
    const error = await ask('limited');
    expect(error).toBeInstanceOf(Anthropic.RateLimitError);
    expect(error).toMatchObject({
      error: body('rate_limit_error', 'quota exhausted, please retry later'),
    });
    const { headers } = error as InstanceType<typeof Anthropic.RateLimitError>;
    expect(Number(headers.get('retry-after'))).toBe(7);
    expect(textOf(error)).not.toContain(canary);
  });

  it('the SDK waits by itself for a limit that passes', async () => {
    const params = { ...plain, model: 'recovering' };
    const response = await client({ maxRetries: 1 }).messages.create(params);
    expect(textIn(response)).toContain(question);
  });

  it('a spare channel answers for a failing one', async () => {
    expect(textIn(await streamed({ ...plain, model: 'spared' }))).toContain(question);
  });

  it.each([
    ['breaking', 'api_error', 'upstream response abnormal'],
    ['overloading', 'overloaded_error', 'service overloaded, please retry later'],
    ['cutting', 'api_error', 'upstream response abnormal'],
    ['closing', 'api_error', 'upstream response abnormal'],
  ])('%s in mid-stream throws with the gateway’s words', async (model, type, message) => {
    const { items, error } = await eventsOf({ model });
    expect(items.map((event) => event.type)).toContain('content_block_delta');
    expect(items.map((event) => event.type)).not.toContain('message_stop');
    expect(error).toBeInstanceOf(Anthropic.APIError);
    expect(error).toMatchObject({ error: body(type, message) });
    expect(textOf(error!)).not.toContain(canary);
    expect((await failureOf(streamed({ ...plain, model }))).message).toContain(message);
  });
});

describe('messages with the official SDK: a mapped model name', () => {
  it.each(ways)('is the client’s in every response, %s', async (_, ask) => {
    expect((await ask({ ...plain, model: 'fast' })).model).toBe('fast');
    expect(received(gateway()).json).toMatchObject({ model: 'demo-chat' });
  });
});

it('no error is logged', () => {
  expect(gateway().errors).toEqual([]);
});
