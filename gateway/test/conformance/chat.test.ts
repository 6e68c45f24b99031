import OpenAI from 'openai';
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

function client(options: { apiKey?: string; maxRetries?: number } = {}): OpenAI {
  return new OpenAI({ apiKey: testKey, baseURL: `${gateway().url}/v1`, maxRetries: 0, ...options });
}

const messages = [{ role: 'user' as const, content: question }];
const plain = { model: 'demo-chat', messages };

const weather = {
  type: 'function' as const,
  function: {
    name: 'get_weather',
    parameters: {
      type: 'object',
      properties: { city: { type: 'string' } },
      required: ['city'],
      additionalProperties: false,
    },
  },
};
const clock = {
  type: 'function' as const,
  function: { name: 'get_time', parameters: { type: 'object', properties: {} } },
};
const tools = [weather, clock];

type Chunk = OpenAI.ChatCompletionChunk;
const contentOf = (chunks: readonly Chunk[], index = 0) =>
  chunks
    .flatMap(({ choices }) => choices)
    .filter((choice) => choice.index === index)
    .map(({ delta }) => delta.content ?? '')
    .join('');

async function chunksOf(params: Partial<OpenAI.ChatCompletionCreateParamsStreaming> = {}) {
  return readAll(await client().chat.completions.create({ ...plain, ...params, stream: true }));
}

describe('chat with the official SDK: answers', () => {
  it('plain', async () => {
    const asked = client().chat.completions.create(plain);
    const { data: response, request_id } = await asked.withResponse();
    expect(response.choices[0]?.message.content).toContain(question);
    expect(response.choices[0]?.finish_reason).toBe('stop');
    expect(response.model).toBe('demo-chat');
    expect(response.usage?.prompt_tokens).toBe(Math.ceil(question.length / 4));
    expect(request_id).toMatch(/^req_.{24}$/);
  });

  it('what the SDK sends reaches the upstream unchanged', async () => {
    const params = { ...plain, metadata: { a: 'b' }, seed: 7, x_unknown: [1, { deep: null }] };
    await client().chat.completions.create(params as OpenAI.ChatCompletionCreateParamsNonStreaming);
    expect(received(gateway()).body).toBe(JSON.stringify(params));
  });

  it('streamed: the same text in several pieces, without usage', async () => {
    const whole = await client().chat.completions.create(plain);
    const { items, error } = await chunksOf();
    expect(error).toBeNull();
    expect(contentOf(items)).toBe(whole.choices[0]?.message.content);
    expect(items.length).toBeGreaterThan(6);
    expect(items.every(({ choices }) => choices.length > 0)).toBe(true);
    expect(items.every(({ usage }) => usage === null || usage === undefined)).toBe(true);
    expect(items.at(-1)?.choices[0]?.finish_reason).toBe('stop');
    expect(received(gateway()).json).toMatchObject({ stream_options: { include_usage: true } });
  });

  it.each([{ include_usage: false }, { include_obfuscation: false }, null])(
    'streamed with options %j: no usage chunk',
    async (stream_options) => {
      const { items } = await chunksOf({ stream_options });
      expect(items.every(({ choices }) => choices.length > 0)).toBe(true);
    },
  );

  it('streamed with include_usage: exactly one usage chunk, the last', async () => {
    const { items } = await chunksOf({ stream_options: { include_usage: true } });
    const whole = await client().chat.completions.create(plain);
    expect(items.filter(({ usage }) => usage)).toHaveLength(1);
    expect(items.at(-1)?.choices).toEqual([]);
    expect(items.at(-1)?.usage).toEqual(whole.usage);
  });

  it('the stream helper', async () => {
    const stream = client().chat.completions.stream({
      ...plain,
      stream_options: { include_usage: true },
    });
    let text = '';
    stream.on('content', (delta) => (text += delta));
    const final = await stream.finalChatCompletion();
    expect(final.choices[0]?.message.content).toBe(text);
    expect(text).toContain(question);
    expect((await stream.totalUsage()).completion_tokens).toBeGreaterThan(10);
  });

  it('several choices, whole and streamed', async () => {
    const whole = await client().chat.completions.create({ ...plain, n: 2 });
    const texts = whole.choices.map(({ message }) => message.content);
    expect(texts).toHaveLength(2);
    expect(texts[0]).not.toBe(texts[1]);
    const { items } = await chunksOf({ n: 2 });
    expect([contentOf(items, 0), contentOf(items, 1)]).toEqual(texts);
  });

  it('images', async () => {
    const content: OpenAI.ChatCompletionContentPart[] = [
      { type: 'text', text: 'look' },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${pixel}`, detail: 'low' } },
      { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
    ];
    const asked = { model: 'demo-chat', messages: [{ role: 'user' as const, content }] };
    const response = await client().chat.completions.create(asked);
    expect(response.choices[0]?.message.content).toContain('2 images');
  });

  it('reasoning, and its way back', async () => {
    const params = { model: 'demo-reasoning', messages, reasoning_effort: 'low' as const };
    const whole = await client().chat.completions.create(params);
    const message = whole.choices[0]?.message as OpenAI.ChatCompletionMessage & {
      reasoning_content?: string;
    };
    expect(message.reasoning_content).toContain('demo thinks');
    expect(whole.usage?.completion_tokens_details?.reasoning_tokens).toBeGreaterThan(5);
    const { items } = await chunksOf({ ...params });
    const streamed = items.map(({ choices }) => {
      const delta = choices[0]?.delta as { reasoning_content?: string } | undefined;
      return delta?.reasoning_content ?? '';
    });
    expect(streamed.join('')).toBe(message.reasoning_content);
    const next = { role: 'user' as const, content: 'and now?' };
    await client().chat.completions.create({ ...params, messages: [...messages, message, next] });
    expect(received(gateway()).json).toMatchObject({
      messages: [{}, { reasoning_content: message.reasoning_content }, {}],
    });
  });

  it('a length stop', async () => {
    for (const limit of [{ max_tokens: 5 }, { max_completion_tokens: 5 }]) {
      const response = await client().chat.completions.create({ ...plain, ...limit });
      expect(response.choices[0]?.finish_reason).toBe('length');
      const { items } = await chunksOf(limit);
      expect(contentOf(items)).toBe(response.choices[0]?.message.content);
      expect(items.at(-1)?.choices[0]?.finish_reason).toBe('length');
    }
  });

  it('a refusal and a filter', async () => {
    const refused = {
      model: 'demo-chat',
      messages: [{ role: 'user' as const, content: 'refuse' }],
    };
    const response = await client().chat.completions.create(refused);
    expect(response.choices[0]?.message.refusal).toBe('I cannot help with that.');
    const stream = client().chat.completions.stream(refused);
    const streamed = await stream.finalChatCompletion();
    expect(streamed.choices[0]?.message.refusal).toBe('I cannot help with that.');
    const content = 'refuse prompt';
    const filtered = await chunksOf({ messages: [{ role: 'user', content }] });
    expect(filtered.error).toBeNull();
    expect(filtered.items.at(-1)?.choices[0]?.finish_reason).toBe('content_filter');
  });

  it('structured output', async () => {
    const schema = { type: 'object', properties: { count: { type: 'integer' } } };
    const response = await client().chat.completions.parse({
      ...plain,
      response_format: { type: 'json_schema', json_schema: { name: 'order', schema } },
    });
    expect(JSON.parse(response.choices[0]?.message.content ?? '')).toEqual({ count: 1 });
  });
});

describe('chat with the official SDK: tools', () => {
  const asking = (content: string) => ({
    model: 'demo-chat',
    tools,
    messages: [{ role: 'user' as const, content }],
  });
  const whole = (params: ReturnType<typeof asking>) => client().chat.completions.create(params);
  const streamed = (params: ReturnType<typeof asking>) =>
    client().chat.completions.stream(params).finalChatCompletion();

  it.each([
    ['whole', whole],
    ['streamed', streamed],
  ])('one call and its result, %s', async (_, ask) => {
    const first = asking('call tool get_weather');
    const [choice] = (await ask(first)).choices;
    expect(choice?.finish_reason).toBe('tool_calls');
    expect(choice?.message.tool_calls).toMatchObject([
      { type: 'function', function: { name: 'get_weather', arguments: '{"city":"demo city"}' } },
    ]);
    const tool_call_id = choice?.message.tool_calls?.[0]?.id ?? '';
    const result = { role: 'tool' as const, tool_call_id, content: '12 degrees' };
    const last = await ask({
      ...first,
      messages: [...first.messages, choice?.message, result] as typeof first.messages,
    });
    expect(last.choices[0]?.message.content).toContain('The tool answered: "12 degrees"');
  });

  it.each([
    ['whole', whole],
    ['streamed', streamed],
  ])('parallel calls and both results, %s', async (_, ask) => {
    const first = asking('call tools');
    const [choice] = (await ask(first)).choices;
    const calls = choice?.message.tool_calls ?? [];
    expect(calls.map((call) => call.type === 'function' && call.function.name)).toEqual([
      'get_weather',
      'get_time',
    ]);
    expect(new Set(calls.map(({ id }) => id)).size).toBe(2);
    const results = calls.map(({ id }, index) => ({
      role: 'tool' as const,
      tool_call_id: id,
      content: `result ${index}`,
    }));
    const last = await ask({
      ...first,
      messages: [...first.messages, choice?.message, ...results] as typeof first.messages,
    });
    expect(last.choices[0]?.message.content).toContain('"result 0" and "result 1"');
  });

  it.each([true, false])('the tool runner completes its loop, stream %s', async (stream) => {
    const called: string[] = [];
    const run = (name: string) => (input: unknown) => {
      called.push(`${name} ${JSON.stringify(input)}`);
      return `${name} is done`;
    };
    const runnable = tools.map(({ function: { name, parameters } }) => ({
      type: 'function' as const,
      function: { name, description: name, parameters, parse: JSON.parse, function: run(name) },
    }));
    const content = 'call tool get_weather and then call tool get_time';
    const params = {
      model: 'demo-chat',
      messages: [{ role: 'user' as const, content }],
      tools: runnable,
    };
    const runner = stream
      ? client().chat.completions.runTools({ ...params, stream: true })
      : client().chat.completions.runTools(params);
    expect(await runner.finalContent()).toContain('get_time is done');
    expect(called).toEqual(['get_weather {"city":"demo city"}', 'get_time {}']);
  });
});

describe('chat with the official SDK: errors', () => {
  const ask = (model: string, options = {}) =>
    failureOf(client(options).chat.completions.create({ ...plain, model }));

  it('a wrong key', async () => {
    const error = await ask('demo-chat', { apiKey: 'sk-wrong-0123456789abcdefghijklmnop' });
    expect(error).toBeInstanceOf(OpenAI.AuthenticationError);
    expect(error).toMatchObject({ status: 401, code: 'invalid_api_key' });
    expect(error.message).toBe('401 invalid api key');
  });

  it('no model, no messages, a bad temperature', async () => {
    const create = (params: object) =>
      failureOf(
        client().chat.completions.create(params as OpenAI.ChatCompletionCreateParamsNonStreaming),
      );
    expect(await create({ messages })).toMatchObject({
      name: 'Error',
      status: 400,
      message: '400 model is required',
      param: 'model',
      code: 'missing_required_parameter',
    });
    expect(await create({ model: 'demo-chat' })).toBeInstanceOf(OpenAI.BadRequestError);
    expect(await create({ ...plain, temperature: 3 })).toMatchObject({ param: 'temperature' });
  });

  it('an unknown model', async () => {
    const error = await ask('no-such-model');
    expect(error).toBeInstanceOf(OpenAI.BadRequestError);
    expect(error).toMatchObject({ code: 'model_not_available', param: 'model' });
    expect(error.message).toContain("model 'no-such-model' is not available");
  });

  it('an upstream without the model', async () => {
    const error = await ask('lost');
    expect(error.message).toContain("model 'lost' is not available");
    expect(textOf(error)).not.toContain('missing-model');
  });

  it('every channel limited: 429 with the shorter wait', async () => {
    const error = await ask('limited');
    expect(error).toBeInstanceOf(OpenAI.RateLimitError);
    expect(error.message).toBe('429 quota exhausted, please retry later');
    const { headers } = error as InstanceType<typeof OpenAI.RateLimitError>;
    expect(Number(headers.get('retry-after'))).toBe(7);
    expect(textOf(error)).not.toContain(canary);
    const [row] = await gateway().usage();
    expect(row?.attempts).toMatchObject([{ channel: 'limited-0' }, { channel: 'limited-1' }]);
  });

  it('the SDK waits by itself for a limit that passes', async () => {
    const response = await client({ maxRetries: 1 }).chat.completions.create({
      ...plain,
      model: 'recovering',
    });
    expect(response.model).toBe('recovering');
  });

  it('a spare channel answers for a failing one', async () => {
    const response = await client().chat.completions.create({ ...plain, model: 'spared' });
    expect(response.choices[0]?.message.content).toContain(question);
  });

  it('an upstream that refuses or returns noise', async () => {
    const refused = await ask('refusing');
    expect(refused).toBeInstanceOf(OpenAI.BadRequestError);
    const garbled = await ask('garbled');
    expect(garbled).toBeInstanceOf(OpenAI.InternalServerError);
    expect(garbled.message).toBe('502 upstream response abnormal');
    expect(textOf(refused) + textOf(garbled)).not.toContain(canary);
  });

  it.each([
    ['breaking', 'upstream response abnormal'],
    ['overloading', 'service overloaded, please retry later'],
    ['cutting', 'upstream response abnormal'],
    ['closing', 'upstream response abnormal'],
  ])('%s in mid-stream throws with the gateway’s words', async (model, message) => {
    const { items, error } = await chunksOf({ model });
    expect(contentOf(items)).toMatch(/^This is the Sluice/);
    expect(error).toBeInstanceOf(OpenAI.APIError);
    expect(error?.message).toContain(message);
    expect(textOf(error!)).not.toContain(canary);
    const helper = client().chat.completions.stream({ ...plain, model });
    expect((await failureOf(helper.finalChatCompletion())).message).toContain(message);
    const [row] = await gateway().usage();
    expect(row).toMatchObject({ outcome: 'failed', status: 200, tokens: { output: 0 } });
  });

  it.each(['cut-at', 'close-at'])('%s inside the second of two choices throws', async (fault) => {
    const one = (await chunksOf()).items.length;
    const headers = { 'x-simulator-fault': `${fault}=${one + 3}` };
    const params = { ...plain, n: 2, stream: true } as const;
    const stream = await client().chat.completions.create(params, { headers });
    const { items, error } = await readAll(stream);
    expect(contentOf(items, 0)).toContain(question);
    expect(error?.message).toContain('upstream response abnormal');
  });

  it('a client that disconnects cancels the upstream', async () => {
    const before = gateway().simulator.aborted();
    const stream = await client().chat.completions.create({
      ...plain,
      model: 'slow',
      stream: true,
    });
    for await (const chunk of stream) if (contentOf([chunk]) !== '') break;
    await expect.poll(() => gateway().simulator.aborted()).toBe(before + 1);
    await expect.poll(async () => (await gateway().usage())[0]?.outcome).toBe('client-left');
  });
});

describe('chat with the official SDK: a mapped model name', () => {
  const mapped = { ...plain, model: 'fast' };

  it('is the client’s name in every response', async () => {
    expect((await client().chat.completions.create(mapped)).model).toBe('fast');
    expect(received(gateway()).json).toMatchObject({ model: 'demo-chat' });
    const { items } = await chunksOf({ model: 'fast', stream_options: { include_usage: true } });
    expect(new Set(items.map(({ model }) => model))).toEqual(new Set(['fast']));
    const final = await client().chat.completions.stream(mapped).finalChatCompletion();
    expect(final.model).toBe('fast');
  });
});

it('no error is logged', () => {
  expect(gateway().errors).toEqual([]);
});
