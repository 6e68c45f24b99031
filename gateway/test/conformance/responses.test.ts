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

const plain = { model: 'demo-chat', input: question };

const tool = (name: string, properties: object) => ({
  type: 'function' as const,
  name,
  strict: false,
  parameters: { type: 'object', properties },
});
const tools = [tool('get_weather', { city: { type: 'string' } }), tool('get_time', {})];

type Create = OpenAI.Responses.ResponseCreateParamsNonStreaming;
type OpenAiResponse = OpenAI.Responses.Response;
const whole = (params: Create): Promise<OpenAiResponse> => client().responses.create(params);
const streamed = (params: Create): Promise<OpenAiResponse> =>
  client()
    .responses.stream({ ...params, stream: true })
    .finalResponse();
const ways = [
  ['whole', whole],
  ['streamed', streamed],
] as const;

function isCall(
  item: OpenAI.Responses.ResponseOutputItem,
): item is OpenAI.Responses.ResponseFunctionToolCall {
  return item.type === 'function_call';
}

async function eventsOf(params: Partial<Create> = {}) {
  return readAll(await client().responses.create({ ...plain, ...params, stream: true }));
}

describe('responses with the official SDK: answers', () => {
  it('plain', async () => {
    const { data: response, request_id } = await client().responses.create(plain).withResponse();
    expect(response.output_text).toContain(question);
    expect(response).toMatchObject({ status: 'completed', model: 'demo-chat', error: null });
    expect(response.usage?.input_tokens).toBe(Math.ceil(question.length / 4));
    expect(request_id).toMatch(/^req_.{24}$/);
  });

  it('what the SDK sends reaches the upstream unchanged', async () => {
    const params = { ...plain, metadata: { a: 'b' }, truncation: 'auto', x_unknown: { deep: [1] } };
    await whole(params as Create);
    expect(received(gateway()).body).toBe(JSON.stringify(params));
    await eventsOf({ store: false });
    expect(received(gateway()).json).toEqual({ ...plain, store: false, stream: true });
  });

  it('streamed: numbered events, the same text, one terminal event', async () => {
    const { items, error } = await eventsOf();
    expect(error).toBeNull();
    expect(items.map(({ sequence_number }) => sequence_number)).toEqual([...items.keys()]);
    const text = items.map((event) =>
      event.type === 'response.output_text.delta' ? event.delta : '',
    );
    expect(text.join('')).toBe((await whole(plain)).output_text);
    expect(items.filter(({ type }) => type === 'response.completed')).toEqual([items.at(-1)]);
  });

  it('the stream helper', async () => {
    const response = await streamed(plain);
    expect(response.output_text).toContain(question);
    expect(response.status).toBe('completed');
  });

  it('images and a list of messages', async () => {
    const input: OpenAI.Responses.ResponseInput = [
      { role: 'developer', content: 'be brief' },
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'look' },
          { type: 'input_image', detail: 'auto', image_url: `data:image/png;base64,${pixel}` },
        ],
      },
    ];
    expect((await whole({ model: 'demo-chat', input })).output_text).toContain('1 image');
  });

  it.each(ways)('a length stop is incomplete, %s', async (_, ask) => {
    const response = await ask({ ...plain, max_output_tokens: 16 });
    expect(response.status).toBe('incomplete');
    expect(response.incomplete_details).toEqual({ reason: 'max_output_tokens' });
    expect(response.output_text).toHaveLength(64);
  });

  it.each(ways)('a refusal, %s', async (_, ask) => {
    const response = await ask({ model: 'demo-chat', input: 'refuse' });
    expect(response.output).toMatchObject([
      { type: 'message', content: [{ type: 'refusal', refusal: 'I cannot help with that.' }] },
    ]);
  });

  it('structured output', async () => {
    const schema = { type: 'object', properties: { count: { type: 'integer' } } };
    const format = { type: 'json_schema' as const, name: 'order', schema };
    const response = await client().responses.parse({ ...plain, text: { format } });
    expect(JSON.parse(response.output_text)).toEqual({ count: 1 });
  });
});

describe('responses with the official SDK: tools and reasoning', () => {
  it.each(ways)('parallel calls and both results, %s', async (_, ask) => {
    const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: 'call tools' }];
    const first = await ask({ model: 'demo-chat', tools, input });
    const calls = first.output.filter(isCall);
    expect(calls.map((call) => [call.name, call.arguments])).toEqual([
      ['get_weather', '{"city":"demo city"}'],
      ['get_time', '{}'],
    ]);
    const results = calls.map(({ call_id, name }) => ({
      type: 'function_call_output' as const,
      call_id,
      output: `${name} ok`,
    }));
    const next = [...input, ...first.output, ...results] as OpenAI.Responses.ResponseInput;
    const last = await ask({ model: 'demo-chat', tools, input: next });
    expect(last.output_text).toContain('"get_weather ok" and "get_time ok"');
  });

  it.each(ways)('encrypted reasoning comes back over several turns, %s', async (_, ask) => {
    const params = {
      model: 'demo-reasoning',
      tools,
      include: ['reasoning.encrypted_content' as const],
      reasoning: { summary: 'auto' as const },
      store: false,
    };
    let input: OpenAI.Responses.ResponseInput = [
      { role: 'user', content: 'call tool get_weather and then call tool get_time' },
    ];
    for (const name of ['get_weather', 'get_time']) {
      const response = await ask({ ...params, input });
      const [reasoning, call] = response.output;
      expect(reasoning).toMatchObject({
        type: 'reasoning',
        encrypted_content: expect.stringMatching(/.{20}/),
        summary: [{ text: expect.stringContaining('demo thinks') }],
      });
      expect(call).toMatchObject({ type: 'function_call', name });
      const { call_id } = call as OpenAI.Responses.ResponseFunctionToolCall;
      const result = { type: 'function_call_output' as const, call_id, output: `${name} ok` };
      input = [...input, ...response.output, result] as OpenAI.Responses.ResponseInput;
    }
    const last = await ask({ ...params, input });
    expect(last.output_text).toContain('get_time ok');
    // The simulator refuses signatures that are not its own: a changed byte is a 400.
    const forged = JSON.parse(
      JSON.stringify(input).replace(/"encrypted_content":"./, '"encrypted_content":"!'),
    ) as typeof input;
    expect(await failureOf(ask({ ...params, input: forged }))).toBeInstanceOf(
      OpenAI.BadRequestError,
    );
  });

  it('a stored response is continued', async () => {
    const first = await whole({ model: 'demo-chat', tools, input: 'call tool get_weather' });
    const [call] = first.output;
    const { call_id } = call as OpenAI.Responses.ResponseFunctionToolCall;
    const next = await whole({
      model: 'demo-chat',
      tools,
      previous_response_id: first.id,
      input: [{ type: 'function_call_output', call_id, output: 'rain' }],
    });
    expect(next.output_text).toContain('"rain"');
  });
});

describe('responses with the official SDK: errors', () => {
  const ask = (model: string, options = {}) =>
    failureOf(client(options).responses.create({ ...plain, model }));

  it('a wrong key', async () => {
    const error = await ask('demo-chat', { apiKey: 'sk-wrong-0123456789abcdefghijklmnop' });
    expect(error).toBeInstanceOf(OpenAI.AuthenticationError);
    expect(error.message).toBe('401 invalid api key');
  });

  it('no model, no input, an unknown model', async () => {
    const create = (params: object) => failureOf(whole(params));
    expect(await create({ input: 'x' })).toMatchObject({ status: 400, param: 'model' });
    expect(await create({ model: 'demo-chat' })).toMatchObject({ status: 400, param: 'input' });
    expect((await ask('no-such-model')).message).toContain("'no-such-model' is not available");
    expect((await ask('lost')).message).toContain("'lost' is not available");
  });

  it('every channel limited: 429 with the shorter wait', async () => {
    const error = await ask('limited');
    expect(error).toBeInstanceOf(OpenAI.RateLimitError);
    const { headers } = error as InstanceType<typeof OpenAI.RateLimitError>;
    expect(Number(headers.get('retry-after'))).toBe(7);
    expect(textOf(error)).not.toContain(canary);
  });

  it('the SDK waits by itself for a limit that passes', async () => {
    const params = { ...plain, model: 'recovering' };
    const response = await client({ maxRetries: 1 }).responses.create(params);
    expect(response.output_text).toContain(question);
  });

  it('a spare channel answers for a failing one', async () => {
    expect((await streamed({ ...plain, model: 'spared' })).output_text).toContain(question);
  });

  it.each([
    ['breaking', 'upstream response abnormal', 'upstream_unavailable'],
    ['overloading', 'service overloaded, please retry later', 'server_is_overloaded'],
    ['cutting', 'upstream response abnormal', 'upstream_unavailable'],
    ['closing', 'upstream response abnormal', 'upstream_unavailable'],
  ])('%s in mid-stream is a failed response', async (model, message, code) => {
    const { items, error } = await eventsOf({ model });
    // This SDK hands `response.failed` to its caller instead of throwing.
    expect(error).toBeNull();
    expect(items.some(({ type }) => type === 'response.output_text.delta')).toBe(true);
    expect(items.some(({ type }) => type === 'response.completed')).toBe(false);
    const last = items.at(-1);
    expect(last).toMatchObject({
      type: 'response.failed',
      sequence_number: items.length - 1,
      response: { status: 'failed', model, error: { code, message } },
    });
    expect(JSON.stringify(items)).not.toContain(canary);
    const [started] = items;
    if (started?.type !== 'response.created' || last?.type !== 'response.failed') throw new Error();
    expect(last.response.id).toBe(started.response.id);
    const final = await streamed({ ...plain, model });
    expect(final).toMatchObject({ status: 'failed', error: { message } });
  });
});

describe('responses with the official SDK: a mapped model name', () => {
  it('is the client’s in every response', async () => {
    expect((await whole({ ...plain, model: 'fast' })).model).toBe('fast');
    const { items } = await eventsOf({ model: 'fast' });
    const names = items.flatMap((event) => ('response' in event ? [event.response.model] : []));
    expect(names).toEqual(['fast', 'fast', 'fast']);
    expect(received(gateway()).json).toMatchObject({ model: 'demo-chat' });
  });
});

it('no error is logged', () => {
  expect(gateway().errors).toEqual([]);
});
