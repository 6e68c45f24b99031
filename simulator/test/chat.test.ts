import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startSimulator, type Simulator } from '../src/index.ts';
import { ask, askStream } from './client.ts';

let simulator: Simulator;
let client: OpenAI;
beforeAll(async () => {
  simulator = await startSimulator();
  client = new OpenAI({ apiKey: 'key', baseURL: `${simulator.url}/v1`, maxRetries: 0 });
});
afterAll(() => simulator.close());

const weather = {
  type: 'function' as const,
  function: {
    name: 'get_weather',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
};
const clock = { type: 'function' as const, function: { name: 'get_time' } };

describe('the official client', () => {
  test('gets a response that quotes the user', async () => {
    const response = await client.chat.completions.create({
      model: 'demo-chat',
      messages: [{ role: 'user', content: 'Grüße 🚀' }],
    });
    expect(response.choices[0]?.message.content).toContain('You said: "Grüße 🚀"');
    expect(response.choices[0]?.finish_reason).toBe('stop');
    expect(response.model).toBe('demo-chat');
  });

  test('streams the same response in several pieces', async () => {
    const messages = [{ role: 'user' as const, content: 'Grüße 🚀' }];
    const whole = await client.chat.completions.create({ model: 'demo-chat', messages });
    const stream = client.chat.completions.stream({ model: 'demo-chat', messages });
    let deltas = 0;
    stream.on('content', () => (deltas += 1));
    const streamed = await stream.finalChatCompletion();
    expect(streamed.choices[0]?.message.content).toBe(whole.choices[0]?.message.content);
    expect(deltas).toBeGreaterThan(3);
  });

  test('takes two parallel calls and both results, streamed', async () => {
    const messages: OpenAI.ChatCompletionMessageParam[] = [
      { role: 'user', content: 'please call tools' },
    ];
    const tools = [weather, clock];
    const first = await client.chat.completions
      .stream({ model: 'demo-chat', messages, tools })
      .finalChatCompletion();
    const message = first.choices[0]!.message;
    const calls = message.tool_calls!.filter((call) => call.type === 'function');
    expect(first.choices[0]!.finish_reason).toBe('tool_calls');
    expect(calls.map((call) => call.function)).toMatchObject([
      { name: 'get_weather', arguments: '{"city":"demo city"}' },
      { name: 'get_time', arguments: '{}' },
    ]);
    messages.push(message);
    for (const call of calls) {
      messages.push({ role: 'tool', tool_call_id: call.id, content: `${call.function.name} ok` });
    }
    const last = await client.chat.completions.create({ model: 'demo-chat', messages, tools });
    expect(last.choices[0]?.message.content).toContain('"get_weather ok" and "get_time ok"');
  });

  test('sees the vendor error classes', async () => {
    const messages = [{ role: 'user' as const, content: 'x' }];
    await expect(
      client.chat.completions.create({ model: 'missing-model', messages }),
    ).rejects.toThrow(OpenAI.NotFoundError);
    await expect(
      client.chat.completions.create({ model: 'x+fault(status=429;retry-after=3)', messages }),
    ).rejects.toMatchObject({ status: 429, headers: expect.any(Headers) });
    await expect(
      client.chat.completions.create({ model: 'demo-chat', messages: [] }),
    ).rejects.toMatchObject({ status: 400, code: 'empty_array', param: 'messages' });
    const stranger = new OpenAI({ apiKey: 'invalid-key', baseURL: client.baseURL, maxRetries: 0 });
    await expect(
      stranger.chat.completions.create({ model: 'demo-chat', messages }),
    ).rejects.toThrow(OpenAI.AuthenticationError);
  });

  test('throws on an error event inside the stream', async () => {
    const stream = await client.chat.completions.create({
      model: 'x+fault(status=529;after=3)',
      messages: [{ role: 'user', content: 'x' }],
      stream: true,
    });
    let seen = 0;
    const read = async () => {
      for await (const _ of stream) seen += 1;
    };
    await expect(read()).rejects.toThrow(OpenAI.APIError);
    expect(seen).toBe(3);
  });

  test('lists the demo models', async () => {
    const ids = (await client.models.list()).data.map((model) => model.id);
    expect(ids).toEqual([
      'demo-chat',
      'demo-reasoning',
      'demo-embedding',
      'demo-image',
      'demo-layers',
      'demo-video-1',
      'demo-video-2',
    ]);
    expect((await client.models.retrieve('demo-chat')).id).toBe('demo-chat');
  });
});

describe('usage', () => {
  test('is in the stream only when asked for, and then null before the last chunk', async () => {
    const plain = await askStream(simulator, 'chat');
    expect(plain.events.some((event) => 'usage' in event)).toBe(false);
    expect(plain.text.endsWith('data: [DONE]\n\n')).toBe(true);
    const { events } = await askStream(simulator, 'chat', {
      stream_options: { include_usage: true },
    });
    expect(events.slice(0, -1).every((event) => event.usage === null)).toBe(true);
    expect(events.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: 2 } });
  });

  test('counts what stood before the last assistant turn as cached, within the prompt', async () => {
    const long = 'x'.repeat(400);
    const { json } = await ask(simulator, 'chat', {
      messages: [
        { role: 'system', content: long },
        { role: 'user', content: long },
        { role: 'assistant', content: 'y'.repeat(40) },
        { role: 'user', content: 'z'.repeat(20) },
      ],
    });
    expect(json.usage.prompt_tokens).toBe(100 + 100 + 10 + 5);
    expect(json.usage.prompt_tokens_details.cached_tokens).toBe(200);
    expect(json.usage.total_tokens).toBe(json.usage.prompt_tokens + json.usage.completion_tokens);
  });

  test('counts reasoning inside the completion', async () => {
    const { json } = await ask(simulator, 'chat', { model: 'demo-reasoning' });
    const { reasoning_content: thought, content } = json.choices[0].message;
    const { completion_tokens: all, completion_tokens_details: details } = json.usage;
    expect(details.reasoning_tokens).toBe(Math.ceil(thought.length / 4));
    expect(all).toBe(details.reasoning_tokens + Math.ceil(content.length / 4));
  });
});

describe('what ends a response', () => {
  test('a token limit cuts the text', async () => {
    const { json } = await ask(simulator, 'chat', { max_tokens: 5 });
    expect(json.choices[0].finish_reason).toBe('length');
    expect(json.choices[0].message.content).toBe('This is the Sluice s');
    expect(json.usage.completion_tokens).toBe(5);
  });

  test('a stop sequence', async () => {
    const { json } = await ask(simulator, 'chat', { stop: ['demo'] });
    expect(json.choices[0].message.content).toBe("This is the Sluice simulator's ");
  });

  test('a refusal, whole and streamed', async () => {
    const messages = [{ role: 'user', content: 'refuse' }];
    const { json } = await ask(simulator, 'chat', { messages });
    expect(json.choices[0].message).toMatchObject({ content: null, refusal: expect.any(String) });
    const { events } = await askStream(simulator, 'chat', { messages });
    const refusal = events.map((event) => event.choices[0].delta.refusal ?? '').join('');
    expect(refusal).toBe(json.choices[0].message.refusal);
  });

  test('a filter', async () => {
    const { json } = await ask(simulator, 'chat', {
      messages: [{ role: 'user', content: 'refuse prompt' }],
    });
    expect(json.choices[0].finish_reason).toBe('content_filter');
  });
});

test('reasoning comes before the text', async () => {
  const { events } = await askStream(simulator, 'chat', { reasoning_effort: 'low' });
  const kinds = events.map((event) => Object.keys(event.choices[0].delta)[0]);
  expect(kinds.indexOf('content')).toBeGreaterThan(kinds.lastIndexOf('reasoning_content'));
  const off = await ask(simulator, 'chat', { model: 'demo-reasoning', reasoning_effort: 'none' });
  expect(off.json.choices[0].message.reasoning_content).toBeUndefined();
});

test('several choices', async () => {
  const { json } = await ask(simulator, 'chat', { n: 3 });
  expect(json.choices.map((choice: { index: number }) => choice.index)).toEqual([0, 1, 2]);
  const { events } = await askStream(simulator, 'chat', { n: 2 });
  const finished = events.filter((event) => event.choices[0].finish_reason === 'stop');
  expect(finished.map((event) => event.choices[0].index)).toEqual([0, 1]);
});

test('images are counted', async () => {
  const url = 'data:image/png;base64,iVBORw0KGgo=';
  const content = [
    { type: 'text', text: 'look' },
    { type: 'image_url', image_url: { url } },
    { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
  ];
  const { json } = await ask(simulator, 'chat', { messages: [{ role: 'user', content }] });
  expect(json.choices[0].message.content).toContain('I received 2 images.');
  expect(json.usage.prompt_tokens).toBe(1 + 2 * 85);
});

test('several steps of a tool loop, one call per round', async () => {
  const messages: unknown[] = [
    { role: 'user', content: 'call tool get_weather and then call tool get_time.' },
  ];
  const tools = [weather, clock];
  const called: string[] = [];
  for (let round = 0; round < 3; round++) {
    const { json } = await ask(simulator, 'chat', { messages, tools });
    const { message } = json.choices[0];
    if (!message.tool_calls) break;
    called.push(
      ...message.tool_calls.map((call: { function: { name: string } }) => call.function.name),
    );
    messages.push(message, {
      role: 'tool',
      tool_call_id: message.tool_calls[0].id,
      content: 'done',
    });
  }
  expect(called).toEqual(['get_weather', 'get_time']);
});

test('a forced choice, a custom tool, no parallel calls', async () => {
  const tools = [weather, clock, { type: 'custom', custom: { name: 'patch' } }];
  const forced = await ask(simulator, 'chat', {
    tools,
    tool_choice: { type: 'function', function: { name: 'get_time' } },
  });
  expect(forced.json.choices[0].message.tool_calls).toHaveLength(1);
  const custom = await ask(simulator, 'chat', {
    tools,
    messages: [{ role: 'user', content: 'call tool patch' }],
  });
  expect(custom.json.choices[0].message.tool_calls[0].custom).toEqual({
    name: 'patch',
    input: 'demo input for patch',
  });
  const single = await ask(simulator, 'chat', {
    tools,
    parallel_tool_calls: false,
    messages: [{ role: 'user', content: 'call tools' }],
  });
  expect(single.json.choices[0].message.tool_calls).toHaveLength(1);
});

test('structured output follows the schema', async () => {
  const schema = {
    type: 'object',
    properties: { size: { type: 'string', enum: ['small', 'large'] }, count: { type: 'integer' } },
  };
  const { json } = await ask(simulator, 'chat', {
    response_format: { type: 'json_schema', json_schema: { name: 'order', schema } },
  });
  expect(JSON.parse(json.choices[0].message.content)).toEqual({ size: 'small', count: 1 });
});
