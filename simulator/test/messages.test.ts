import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startSimulator, type Simulator } from '../src/index.ts';
import { ask, askStream, minimal } from './client.ts';

let simulator: Simulator;
let client: Anthropic;
beforeAll(async () => {
  simulator = await startSimulator();
  client = new Anthropic({ apiKey: 'key', baseURL: simulator.url, maxRetries: 0 });
});
afterAll(() => simulator.close());

const weather = {
  name: 'get_weather',
  input_schema: { type: 'object' as const, properties: { city: { type: 'string' } } },
};
const clock = { name: 'get_time', input_schema: { type: 'object' as const } };
const hello = [{ role: 'user' as const, content: 'hello' }];

describe('the official client', () => {
  test('gets the same text whole and streamed', async () => {
    const request = { model: 'demo-chat', max_tokens: 1000, messages: hello };
    const whole = await client.messages.create(request);
    expect(whole.content[0]).toMatchObject({
      type: 'text',
      text: expect.stringContaining('"hello"'),
    });
    expect(whole.stop_reason).toBe('end_turn');
    const streamed = await client.messages.stream(request).finalMessage();
    expect(streamed.content[0]).toMatchObject({
      type: 'text',
      text: (whole.content[0] as { text: string }).text,
    });
    expect(streamed.usage.output_tokens).toBe(whole.usage.output_tokens);
  });

  test('takes parallel calls with thinking and brings everything back', async () => {
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'call tools' }];
    const request = {
      model: 'demo-reasoning',
      max_tokens: 3000,
      thinking: { type: 'enabled' as const, budget_tokens: 1024 },
      tools: [weather, clock],
    };
    const first = await client.messages.stream({ ...request, messages }).finalMessage();
    expect(first.stop_reason).toBe('tool_use');
    expect(first.content.map((block) => block.type)).toEqual(['thinking', 'tool_use', 'tool_use']);
    expect(first.content[1]).toMatchObject({ name: 'get_weather', input: { city: 'demo city' } });
    expect(first.content[2]).toMatchObject({ name: 'get_time', input: {} });
    const results = first.content.flatMap((block) =>
      block.type === 'tool_use'
        ? [{ type: 'tool_result' as const, tool_use_id: block.id, content: `${block.name} ok` }]
        : [],
    );
    messages.push(
      { role: 'assistant', content: first.content },
      { role: 'user', content: results },
    );
    const last = await client.messages.create({ ...request, messages });
    expect(last.content.at(-1)).toMatchObject({
      text: expect.stringContaining('"get_weather ok" and "get_time ok"'),
    });
  });

  test('sees the vendor error classes', async () => {
    const request = { max_tokens: 10, messages: hello };
    await expect(client.messages.create({ model: 'missing-x', ...request })).rejects.toThrow(
      Anthropic.NotFoundError,
    );
    await expect(
      client.messages.create({ model: 'x+fault(status=529)', ...request }),
    ).rejects.toMatchObject({ status: 529, error: { error: { type: 'overloaded_error' } } });
    const stranger = new Anthropic({ apiKey: 'invalid', baseURL: simulator.url, maxRetries: 0 });
    await expect(stranger.messages.create({ model: 'x', ...request })).rejects.toThrow(
      Anthropic.AuthenticationError,
    );
  });

  test('throws on an error event inside the stream', async () => {
    const model = 'x+fault(status=529;after=4)';
    const stream = client.messages.stream({ model, max_tokens: 1000, messages: hello });
    await expect(stream.finalMessage()).rejects.toThrow(/overloaded_error/);
  });

  test('counts tokens as the response does', async () => {
    const request = { model: 'demo-chat', system: 'Be brief.', messages: hello, tools: [weather] };
    const counted = await client.messages.countTokens(request);
    const answered = await client.messages.create({ ...request, max_tokens: 100 });
    expect(counted.input_tokens).toBe(answered.usage.input_tokens);
    expect(counted.input_tokens).toBeGreaterThan(20);
  });

  test('lists the demo models', async () => {
    const page = await client.models.list();
    expect(page.data.map((model) => model.id)).toEqual(['demo-chat', 'demo-reasoning']);
  });
});

describe('the stream', () => {
  test('names every event, signs the thinking and ends with message_stop', async () => {
    const { text, events } = await askStream(simulator, 'messages', { model: 'demo-reasoning' });
    const names = text.split('\n').filter((line) => line.startsWith('event: '));
    expect(names.map((line) => line.slice(7))).toEqual(events.map((event) => event.type));
    const kinds = events.map((event) => event.delta?.type).filter(Boolean);
    expect(kinds.filter((kind) => kind === 'signature_delta')).toHaveLength(1);
    expect(kinds.indexOf('signature_delta')).toBe(kinds.lastIndexOf('thinking_delta') + 1);
    expect(events.at(-1)).toEqual({ type: 'message_stop' });
  });

  test('leaves the thinking out when asked to, never the signature', async () => {
    const thinking = { type: 'adaptive', display: 'omitted' };
    const { json } = await ask(simulator, 'messages', { thinking });
    expect(json.content[0]).toMatchObject({
      thinking: '',
      signature: expect.stringMatching(/.{20}/),
    });
  });
});

describe('usage', () => {
  const marked = (text: string, ttl?: string) => ({
    type: 'text',
    text,
    cache_control: { type: 'ephemeral', ...(ttl && { ttl }) },
  });

  test('a first marked prompt is written to the cache, and input excludes it', async () => {
    const { json } = await ask(simulator, 'messages', {
      system: [marked('s'.repeat(400), '1h')],
      messages: [{ role: 'user', content: 'u'.repeat(40) }],
    });
    expect(json.usage).toMatchObject({
      input_tokens: 10,
      cache_creation_input_tokens: 100,
      cache_read_input_tokens: 0,
      cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 100 },
    });
  });

  test('a continued conversation reads what stood before and writes the rest', async () => {
    const { json } = await ask(simulator, 'messages', {
      system: [marked('s'.repeat(400))],
      messages: [
        { role: 'user', content: 'u'.repeat(40) },
        { role: 'assistant', content: 'a'.repeat(80) },
        { role: 'user', content: [marked('v'.repeat(120)), { type: 'text', text: 'tail' }] },
      ],
    });
    expect(json.usage).toMatchObject({
      input_tokens: 1,
      cache_creation_input_tokens: 20 + 30,
      cache_read_input_tokens: 100 + 10,
    });
  });

  test('without marks nothing is cached', async () => {
    const { json } = await ask(simulator, 'messages', {
      messages: [...hello, { role: 'assistant', content: 'a' }, ...hello],
    });
    expect(json.usage).toMatchObject({
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
    });
  });
});

describe('what ends a response', () => {
  test('a token limit', async () => {
    const { json } = await ask(simulator, 'messages', { max_tokens: 3 });
    expect(json).toMatchObject({ stop_reason: 'max_tokens', content: [{ text: 'This is the ' }] });
    const none = await ask(simulator, 'messages', { max_tokens: 0 });
    expect(none.json).toMatchObject({ stop_reason: 'max_tokens', content: [] });
  });

  test('a stop sequence is named', async () => {
    const { json } = await ask(simulator, 'messages', { stop_sequences: ['demo'] });
    expect(json).toMatchObject({ stop_reason: 'stop_sequence', stop_sequence: 'demo' });
  });

  test('a refusal', async () => {
    const messages = [{ role: 'user', content: 'refuse' }];
    const { json } = await ask(simulator, 'messages', { messages });
    expect(json).toMatchObject({ stop_reason: 'refusal', stop_details: { type: 'refusal' } });
  });
});

test('images count, also inside tool results', async () => {
  const source = { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' };
  const { json } = await ask(simulator, 'messages', {
    messages: [
      { role: 'user', content: [{ type: 'image', source }] },
      { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'f', input: {} }] },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 't1', content: [{ type: 'image', source }] }],
      },
    ],
  });
  expect(json.content[0].text).toContain('I received 2 images.');
});

test('either credential header is accepted, none is not', async () => {
  const { headers, body } = minimal.messages;
  const send = (credential: Record<string, string>) =>
    fetch(`${simulator.url}/v1/messages?beta=true`, {
      method: 'POST',
      headers: { 'anthropic-version': headers['anthropic-version'], ...credential },
      body: JSON.stringify(body),
    });
  expect((await send({ authorization: 'Bearer key' })).status).toBe(200);
  const refused = await send({});
  expect(refused.status).toBe(401);
  expect(await refused.json()).toMatchObject({
    type: 'error',
    error: { type: 'authentication_error' },
  });
});
