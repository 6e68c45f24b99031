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
  name: 'get_weather',
  strict: true,
  parameters: {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
    additionalProperties: false,
  },
};

describe('the official client', () => {
  test('gets the same text whole and streamed', async () => {
    const request = { model: 'demo-chat', input: 'hello there' };
    const whole = await client.responses.create(request);
    expect(whole.output_text).toContain('You said: "hello there"');
    const streamed = await client.responses.stream(request).finalResponse();
    expect(streamed.output_text).toBe(whole.output_text);
    expect(streamed.status).toBe('completed');
  });

  test('takes a call and brings back the result, with its reasoning', async () => {
    const request = {
      model: 'demo-reasoning',
      tools: [weather],
      include: ['reasoning.encrypted_content' as const],
      reasoning: { summary: 'auto' as const },
      store: false,
    };
    const input: OpenAI.Responses.ResponseInput = [
      { role: 'user', content: 'call tool get_weather' },
    ];
    const first = await client.responses.stream({ ...request, input }).finalResponse();
    expect(first.output.map((item) => item.type)).toEqual(['reasoning', 'function_call']);
    const [reasoning, call] = first.output;
    if (reasoning?.type !== 'reasoning' || call?.type !== 'function_call') throw new Error('order');
    expect(reasoning.encrypted_content).toBeTruthy();
    expect(reasoning.summary[0]?.text).toContain('The demo thinks');
    expect(call.arguments).toBe('{"city":"demo city"}');

    const { id: _, ...echo } = reasoning;
    input.push(
      { ...echo, id: reasoning.id },
      { type: 'function_call', call_id: call.call_id, name: call.name, arguments: call.arguments },
      { type: 'function_call_output', call_id: call.call_id, output: '12 degrees' },
    );
    const last = await client.responses.create({ ...request, input });
    expect(last.output_text).toContain('The tool answered: "12 degrees"');
  });

  test('compacts a conversation, and reads what it made', async () => {
    const input: OpenAI.Responses.ResponseInput = [
      { role: 'user', content: 'My name is Ada.' },
      { type: 'message', role: 'assistant', content: 'Hello Ada.' },
    ];
    const compacted = await client.responses.compact({ model: 'demo-chat', input });
    expect(compacted.output.map(({ type }) => type)).toEqual(['message', 'compaction']);
    const trigger = { type: 'compaction_trigger' } as never;
    const streamed = await client.responses
      .stream({ model: 'demo-chat', input: [...input, trigger] })
      .finalResponse();
    expect(streamed.output).toMatchObject([{ type: 'compaction' }]);
    for (const made of [compacted.output, streamed.output]) {
      const next = [...(made as typeof input), { role: 'user' as const, content: 'And now?' }];
      const answered = await client.responses.create({ model: 'demo-chat', input: next });
      expect(answered.output_text).toContain('And now?');
    }
    const forged = [{ type: 'compaction' as const, encrypted_content: 'eA==' }];
    const refused = client.responses.create({ model: 'demo-chat', input: forged });
    await expect(refused).rejects.toThrow('could not be verified');
  });

  test('continues a stored response', async () => {
    const first = await client.responses.create({
      model: 'demo-chat',
      input: 'call tool get_weather',
      tools: [weather],
    });
    const call = first.output[0];
    if (call?.type !== 'function_call') throw new Error('no call');
    const next = await client.responses.create({
      model: 'demo-chat',
      tools: [weather],
      previous_response_id: first.id,
      input: [{ type: 'function_call_output', call_id: call.call_id, output: 'rain' }],
    });
    expect(next.output_text).toContain('"rain"');
  });

  test('sees a failure inside the stream', async () => {
    const stream = await client.responses.create({
      model: 'x+fault(error-at=4)',
      input: 'x',
      stream: true,
    });
    const types: string[] = [];
    for await (const event of stream) types.push(event.type);
    expect(types).toHaveLength(5);
    expect(types.at(-1)).toBe('response.failed');
  });
});

describe('the stream', () => {
  test('is numbered and ends with a terminal event', async () => {
    const { events, text } = await askStream(simulator, 'responses');
    expect(events.map((event) => event.sequence_number)).toEqual([...events.keys()]);
    expect(events.at(-1).type).toBe('response.completed');
    expect(text).not.toContain('[DONE]');
  });

  test('becomes incomplete at the token limit', async () => {
    const { events } = await askStream(simulator, 'responses', { max_output_tokens: 16 });
    expect(events.at(-1)).toMatchObject({
      type: 'response.incomplete',
      response: { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } },
    });
  });

  test('streams a refusal as its own kind of part', async () => {
    const { events } = await askStream(simulator, 'responses', { input: 'refuse' });
    const types = events.map((event) => event.type);
    expect(types).toContain('response.refusal.delta');
    expect(types).not.toContain('response.output_text.delta');
  });
});

test('usage adds up', async () => {
  const { json } = await ask(simulator, 'responses', {
    model: 'demo-reasoning',
    input: [
      { role: 'user', content: 'x'.repeat(400) },
      { role: 'assistant', content: [{ type: 'output_text', text: 'y'.repeat(40) }] },
      { role: 'user', content: 'z'.repeat(20) },
    ],
  });
  const { usage } = json;
  expect(usage.input_tokens).toBe(115);
  expect(usage.input_tokens_details.cached_tokens).toBe(100);
  expect(usage.output_tokens_details.reasoning_tokens).toBeGreaterThan(10);
  expect(usage.output_tokens).toBeGreaterThan(usage.output_tokens_details.reasoning_tokens);
  expect(usage.total_tokens).toBe(usage.input_tokens + usage.output_tokens);
});

test('encrypted reasoning and its summary appear only when asked for', async () => {
  const { json } = await ask(simulator, 'responses', { reasoning: { effort: 'low' } });
  expect(json.output[0]).toEqual({ type: 'reasoning', id: expect.any(String), summary: [] });
});

describe('Responses rejects', () => {
  const user = { role: 'user', content: 'x' };
  const call = { type: 'function_call', call_id: 'call_1', name: 'f', arguments: '{}' };
  const output = { type: 'function_call_output', call_id: 'call_1', output: 'ok' };
  test.each<[string, Record<string, unknown>, RegExp]>([
    ['no input', { input: undefined }, /Missing required parameter: 'input'/],
    [
      'a tool in the chat form',
      { tools: [{ type: 'function', function: { name: 'f' } }] },
      /'tools\[0\]\.name'/,
    ],
    ['fewer than 16 tokens', { max_output_tokens: 5 }, /Expected a value >= 16/],
    [
      'a chat part',
      { input: [{ role: 'user', content: [{ type: 'text', text: 'x' }] }] },
      /Invalid value: 'text'/,
    ],
    [
      'input parts of the assistant',
      { input: [{ role: 'assistant', content: [{ type: 'input_text', text: 'x' }] }] },
      /'output_text', and 'refusal'/,
    ],
    [
      'an output without call',
      { input: [user, output] },
      /No tool call found for function call output with call_id call_1/,
    ],
    [
      'a call without output',
      { input: [user, call] },
      /No tool output found for function call call_1/,
    ],
    [
      'a call without arguments',
      { input: [user, { ...call, arguments: undefined }, output] },
      /input\[1\]\.arguments/,
    ],
    [
      'foreign encrypted reasoning',
      {
        input: [
          user,
          { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'Zm9yZWlnbg==' },
          call,
          output,
        ],
      },
      /could not be verified/,
    ],
    [
      'reasoning alone',
      { input: [user, { type: 'reasoning', id: 'rs_1', summary: [] }] },
      /without its required following item/,
    ],
    ['an unknown previous response', { previous_response_id: 'resp_other' }, /not found/],
  ])('%s', async (_, changes, message) => {
    const { status, json } = await ask(simulator, 'responses', changes);
    expect(json.error.message).toMatch(message);
    expect(status).toBe(400);
  });

  test('nothing unknown', async () => {
    const { status } = await ask(simulator, 'responses', { client_metadata: { a: 'b' } });
    expect(status).toBe(200);
  });
});
