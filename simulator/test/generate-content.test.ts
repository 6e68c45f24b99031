import { GoogleGenAI, ApiError, FunctionCallingConfigMode } from '@google/genai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startSimulator, type Simulator } from '../src/index.ts';
import { ask, askStream, minimal, type Json } from './client.ts';

let simulator: Simulator;
let client: GoogleGenAI;
beforeAll(async () => {
  simulator = await startSimulator();
  client = new GoogleGenAI({ apiKey: 'key', httpOptions: { baseUrl: simulator.url } });
});
afterAll(() => simulator.close());

const weather = {
  name: 'get_weather',
  parametersJsonSchema: { type: 'object', properties: { city: { type: 'string' } } },
};
const clock = { name: 'get_time' };
const tools = [{ functionDeclarations: [weather, clock] }];

describe('the official client', () => {
  test('gets the same text whole and streamed', async () => {
    const request = { model: 'demo-chat', contents: 'hello there' };
    const whole = await client.models.generateContent(request);
    expect(whole.text).toContain('You said: "hello there"');
    let text = '';
    let chunks = 0;
    let finish: unknown;
    for await (const chunk of await client.models.generateContentStream(request)) {
      text += chunk.text ?? '';
      chunks += 1;
      finish = chunk.candidates?.[0]?.finishReason;
    }
    expect(text).toBe(whole.text);
    expect(chunks).toBeGreaterThan(3);
    expect(finish).toBe('STOP');
  });

  test('takes parallel calls and brings back results and signatures', async () => {
    const contents: Json[] = [{ role: 'user', parts: [{ text: 'call tools' }] }];
    const model = 'demo-reasoning';
    const first = await client.models.generateContent({ model, contents, config: { tools } });
    const content = first.candidates![0]!.content!;
    expect(first.functionCalls).toMatchObject([
      { name: 'get_weather', args: { city: 'demo city' } },
      { name: 'get_time', args: {} },
    ]);
    expect(content.parts!.map((part) => part.thoughtSignature !== undefined)).toEqual([
      true,
      false,
    ]);
    const results = first.functionCalls!.map(({ id, name }) => ({
      functionResponse: { id, name, response: { output: `${name} ok` } },
    }));
    contents.push(content, { role: 'user', parts: results });
    const last = await client.models.generateContent({ model, contents, config: { tools } });
    expect(last.text).toContain('"get_weather ok" and "get_time ok"');
  });

  test('sees the vendor errors', async () => {
    const failing = client.models.generateContent({ model: 'missing-x', contents: 'x' });
    await expect(failing).rejects.toThrow(ApiError);
    await expect(failing).rejects.toMatchObject({ status: 404 });
    const busy = client.models.generateContent({
      model: 'x+fault(status=429;retry-after=12)',
      contents: 'x',
    });
    await expect(busy).rejects.toMatchObject({
      status: 429,
      message: expect.stringMatching(/RESOURCE_EXHAUSTED.*"retryDelay":"12s"/),
    });
  });

  test('throws on an error inside the stream', async () => {
    const stream = await client.models.generateContentStream({
      model: 'x+fault(status=503;after=2)',
      contents: 'x',
    });
    const read = async () => {
      for await (const _ of stream) continue;
    };
    await expect(read()).rejects.toThrow(ApiError);
  });

  test('counts tokens as the response does', async () => {
    const contents = 'how many tokens are these?';
    const counted = await client.models.countTokens({ model: 'demo-chat', contents });
    const answered = await client.models.generateContent({ model: 'demo-chat', contents });
    expect(counted.totalTokens).toBe(7);
    expect(answered.usageMetadata?.promptTokenCount).toBe(7);
  });

  test('lists the demo models', async () => {
    const names: unknown[] = [];
    for await (const model of await client.models.list()) names.push(model.name);
    expect(names).toEqual(['models/demo-chat', 'models/demo-reasoning', 'models/demo-image']);
  });

  test('can force one tool', async () => {
    const response = await client.models.generateContent({
      model: 'demo-chat',
      contents: 'hi',
      config: {
        tools,
        toolConfig: {
          functionCallingConfig: {
            mode: FunctionCallingConfigMode.ANY,
            allowedFunctionNames: ['get_time'],
          },
        },
      },
    });
    expect(response.functionCalls?.map((call) => call.name)).toEqual(['get_time']);
  });
});

test('thoughts are shown only when asked for, counted always, and outside the candidates', async () => {
  const thinkingConfig = { includeThoughts: true };
  const { json } = await ask(simulator, 'generateContent', {
    generationConfig: { thinkingConfig },
  });
  const [thought, text] = json.candidates[0].content.parts;
  expect(thought.thought).toBe(true);
  expect(text.thoughtSignature).toBeTruthy();
  const usage = json.usageMetadata;
  expect(usage.thoughtsTokenCount).toBe(Math.ceil(thought.text.length / 4));
  expect(usage.candidatesTokenCount).toBe(Math.ceil(text.text.length / 4));
  expect(usage.totalTokenCount).toBe(
    usage.promptTokenCount + usage.candidatesTokenCount + usage.thoughtsTokenCount,
  );
  const silent = await ask(simulator, 'generateContent', {
    generationConfig: { thinkingConfig: { thinkingBudget: -1 } },
  });
  expect(silent.json.candidates[0].content.parts).toHaveLength(1);
  expect(silent.json.usageMetadata.thoughtsTokenCount).toBeGreaterThan(0);
});

test('the cached part of a conversation is inside the prompt count', async () => {
  const part = (text: string) => ({ parts: [{ text }] });
  const { json } = await ask(simulator, 'generateContent', {
    contents: [
      { role: 'user', ...part('x'.repeat(400)) },
      { role: 'model', ...part('y'.repeat(40)) },
      { role: 'user', ...part('z'.repeat(20)) },
    ],
  });
  expect(json.usageMetadata).toMatchObject({ promptTokenCount: 115, cachedContentTokenCount: 100 });
});

test('snake_case is read as well', async () => {
  const { json } = await ask(simulator, 'generateContent', {
    generation_config: { max_output_tokens: 3, candidate_count: 2 },
    system_instruction: { parts: [{ text: 'Be brief.' }] },
  });
  expect(json.candidates).toHaveLength(2);
  expect(json.candidates[0]).toMatchObject({
    finishReason: 'MAX_TOKENS',
    content: { parts: [{ text: 'This is the ' }] },
  });
});

test('without alt=sse the stream is one JSON array', async () => {
  const { body, headers } = minimal.generateContent;
  const response = await fetch(
    `${simulator.url}/v1beta/models/demo-chat:streamGenerateContent?key=k`,
    { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) },
  );
  expect(headers['x-goog-api-key']).toBe('key');
  const text = await response.text();
  expect(text).toContain(',\r\n{');
  expect((JSON.parse(text) as unknown[]).length).toBeGreaterThan(3);
});

test('a refusal is a safety stop, a refused prompt has no candidates', async () => {
  const parts = (text: string) => ({ contents: [{ parts: [{ text }] }] });
  const stopped = await ask(simulator, 'generateContent', parts('refuse'));
  expect(stopped.json.candidates[0]).toMatchObject({ finishReason: 'SAFETY' });
  const { events } = await askStream(simulator, 'generateContent', parts('refuse prompt'));
  expect(events).toHaveLength(1);
  expect(events[0]).toMatchObject({ promptFeedback: { blockReason: 'SAFETY' } });
  expect(events[0].candidates).toBeUndefined();
});

test('images are counted', async () => {
  const inlineData = { mimeType: 'image/png', data: 'iVBORw0KGgo=' };
  const { json } = await ask(simulator, 'generateContent', {
    contents: [{ parts: [{ text: 'look' }, { inlineData }] }],
  });
  expect(json.candidates[0].content.parts[0].text).toContain('I received 1 image.');
});

describe('generateContent rejects', () => {
  const user = { role: 'user', parts: [{ text: 'x' }] };
  const call = { functionCall: { name: 'f', args: {} } };
  const called = { role: 'model', parts: [call] };
  const result = { functionResponse: { name: 'f', response: { output: 'ok' } } };
  const contents = (...list: unknown[]) => ({ contents: list });
  const declaring = (parameters: unknown) => ({
    tools: [{ functionDeclarations: [{ name: 'f', parameters }] }],
  });
  test.each<[string, Record<string, unknown>, RegExp]>([
    ['no contents', { contents: undefined }, /contents is not specified/],
    [
      'another role',
      contents({ role: 'assistant', parts: [{ text: 'x' }] }),
      /valid role: user, model/,
    ],
    ['no parts', contents({ role: 'user', parts: [] }), /contents.parts must not be empty/],
    [
      'a part without data',
      contents({ parts: [{ thought: true }] }),
      /must have one initialized field/,
    ],
    ['two kinds of data', contents({ parts: [{ text: 'a', ...call }] }), /already set/],
    ['empty text', contents({ parts: [{ text: '' }] }), /must have a text parameter/],
    [
      'the model first',
      contents({ role: 'model', parts: [{ text: 'x' }] }, user),
      /start with a user turn/,
    ],
    [
      'a result without call',
      contents(user, { role: 'model', parts: [{ text: 'x' }] }, { parts: [result] }),
      /function response turn comes immediately after a function call turn/,
    ],
    [
      'too few results',
      contents(user, { role: 'model', parts: [call, call] }, { parts: [result] }),
      /number of function response parts is equal/,
    ],
    [
      'text after a call',
      contents(user, called, user),
      /number of function response parts is equal/,
    ],
    [
      'args as text',
      contents(
        user,
        { role: 'model', parts: [{ functionCall: { name: 'f', args: '{}' } }] },
        { parts: [result] },
      ),
      /protobuf.Struct/,
    ],
    [
      'a schema beyond the subset',
      declaring({ type: 'OBJECT', properties: { a: { type: 'NUMBER', exclusiveMinimum: 0 } } }),
      /Unknown name "exclusiveMinimum" at 'tools\[0\]\.function_declarations\[0\]\.parameters\.properties\[0\]\.value': Cannot find field/,
    ],
    ['a list of types', declaring({ type: ['string', 'null'] }), /not repeating/],
    ['an enum of numbers', declaring({ type: 'integer', enum: [1] }), /TYPE_STRING/],
    [
      'a bad function name',
      { tools: [{ functionDeclarations: [{ name: '1f' }] }] },
      /Invalid function name/,
    ],
    [
      'allowed names under AUTO',
      { toolConfig: { functionCallingConfig: { mode: 'AUTO', allowedFunctionNames: ['f'] } } },
      /only be set when the function calling mode is ANY/,
    ],
    [
      'both thinking switches',
      { generationConfig: { thinkingConfig: { thinkingBudget: 1, thinkingLevel: 'LOW' } } },
      /only one of thinking budget and thinking level/,
    ],
    [
      'a schema without mime type',
      { generationConfig: { responseSchema: { type: 'STRING' } } },
      /response_mime_type/,
    ],
    [
      'a foreign signature',
      contents(
        user,
        { role: 'model', parts: [{ ...call, thoughtSignature: 'Zm9yZWlnbg==' }] },
        { parts: [result] },
      ),
      /Corrupted thought signature/,
    ],
  ])('%s', async (_, changes, message) => {
    const { status, json } = await ask(simulator, 'generateContent', changes);
    expect(json.error?.message).toMatch(message);
    expect(status).toBe(400);
    expect(json.error).toMatchObject({ code: 400, status: 'INVALID_ARGUMENT' });
  });

  const reason = async (list: unknown[]) => {
    const response = await fetch(`${simulator.url}/v1beta/models/demo-reasoning:generateContent`, {
      method: 'POST',
      headers: { 'x-goog-api-key': 'key' },
      body: JSON.stringify({ contents: list }),
    });
    return { status: response.status, text: await response.text() };
  };

  test('a call of the current turn without signature, for reasoning models', async () => {
    const { status, text } = await reason([user, called, { parts: [result] }]);
    expect(status).toBe(400);
    expect(text).toContain('missing a thought_signature in functionCall parts');
  });

  test('but not in earlier turns, and not with the constant for foreign history', async () => {
    const later = [
      user,
      called,
      { parts: [result] },
      { role: 'model', parts: [{ text: 'a' }] },
      user,
    ];
    expect((await reason(later)).status).toBe(200);
    const skipped = {
      role: 'model',
      parts: [{ ...call, thoughtSignature: 'skip_thought_signature_validator' }],
    };
    expect((await reason([user, skipped, { parts: [result] }])).status).toBe(200);
  });

  test('no credential', async () => {
    const response = await fetch(`${simulator.url}/v1beta/models`);
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({
      error: { code: 401, status: 'UNAUTHENTICATED' },
    });
  });

  test('nothing unknown', async () => {
    const { status } = await ask(simulator, 'generateContent', { brandNew: { a: 1 } });
    expect(status).toBe(200);
  });
});
