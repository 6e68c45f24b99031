import OpenAI from 'openai';
import { ChatCompletionStream } from 'openai/lib/ChatCompletionStream';
import { describe, expect, test } from 'vitest';
import { rowOf, shareGateway } from '../behaviour/support.ts';
import { testKey } from '../support/gateway.ts';
import { describeServed } from './gateway.ts';

/*
 * Cursor posts requests of responses to the endpoint of chat, with `tool_choice` in a form of its own, and reads chat's answer
 * (https://docs.litellm.ai/docs/tutorials/cursor_integration).
 */

const upstreams = ['responses', 'chat', 'messages', 'generate-content'] as const;
const shared = shareGateway({
  config: describeServed(
    upstreams.map((name) => ({
      name: `only-${name}`,
      protocols: [name],
      models: [
        [`at-${name}`, 'demo-chat'],
        [`broken-${name}`, 'demo-chat+fault(events=20;cut-at=12)'],
      ],
    })),
  ),
});

const parameters = { type: 'object', properties: { city: { type: 'string' } } };
const asked = (model: string, text: string, stream: boolean) => ({
  model,
  stream,
  ...(stream && { stream_options: { include_usage: true } }),
  input: [
    { role: 'system', content: 'You are Cursor.' },
    { role: 'user', content: [{ type: 'input_text', text }] },
  ],
  tools: [{ type: 'function', name: 'get_weather', description: 'of a city', parameters }],
  tool_choice: { type: 'auto' },
  store: false,
});

const client = () =>
  new OpenAI({ apiKey: testKey, baseURL: `${shared.gateway.url}/v1`, maxRetries: 0 });

/** The SDK reads what Cursor would. */
async function ask(model: string, text: string, stream: boolean) {
  const body = asked(model, text, stream) as never;
  const { completions } = client().chat;
  if (!stream) return (await completions.create(body)) as OpenAI.ChatCompletion;
  const chunks = (await completions.create(
    body,
  )) as unknown as AsyncIterable<OpenAI.ChatCompletionChunk>;
  const lines: string[] = [];
  for await (const chunk of chunks) lines.push(`${JSON.stringify(chunk)}\n`);
  const { body: read } = new Response(lines.join(''));
  return ChatCompletionStream.fromReadableStream(read!).finalChatCompletion();
}

describe.each(upstreams)('with a channel of %s', (upstream) => {
  test.each([false, true])('gets an answer in the form of chat, stream %s', async (stream) => {
    const answer = await ask(`at-${upstream}`, 'hello there', stream);
    expect(answer).toMatchObject({
      object: 'chat.completion',
      model: `at-${upstream}`,
      choices: [
        {
          finish_reason: 'stop',
          message: { role: 'assistant', content: expect.stringContaining('hello there') },
        },
      ],
      usage: { prompt_tokens: expect.any(Number), completion_tokens: expect.any(Number) },
    });
  });

  test.each([false, true])('calls its flat tools, stream %s', async (stream) => {
    const answer = await ask(`at-${upstream}`, 'call tool get_weather', stream);
    expect(answer.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: { tool_calls: [{ type: 'function', function: { name: 'get_weather' } }] },
    });
  });
});

const post = (body: object) => shared.gateway.post('/v1/chat/completions', body);

test('the row is that of a request of responses, and the upstream gets no words of chat', async () => {
  shared.gateway.simulator.clear();
  const response = await post(asked('at-responses', 'hello', false));
  await response.text();
  const { protocol } = await rowOf(shared.gateway, response.headers.get('x-request-id') ?? '');
  expect(protocol).toBe('responses');
  const [sent] = shared.gateway.simulator.requests();
  expect(sent?.json).toMatchObject({ tool_choice: 'auto', input: expect.any(Array) });
  expect(sent?.json).not.toHaveProperty('stream_options');
});

test('an error has the form of chat', async () => {
  const response = await post({ ...asked('missing', 'hello', true) });
  expect([response.status, await response.json()]).toMatchObject([
    400,
    { error: { type: 'invalid_request_error', param: 'model' } },
  ]);
});

test('a broken stream ends in an error in the form of chat', async () => {
  const response = await post(asked('broken-responses', 'hello there', true));
  const text = await response.text();
  expect(text).not.toMatch(/^event:|\[DONE\]/m);
  const last = text.trimEnd().split('\n').at(-1) ?? '';
  expect(JSON.parse(last.slice('data: '.length))).toMatchObject({
    error: { message: expect.any(String), type: expect.any(String) },
  });
});

test('what cannot be served so names the endpoint where it belongs', async () => {
  const tool = { ...asked('at-chat', 'x', false).tools[0], parameters: { messages: {} } };
  const response = await post({ ...asked('at-chat', 'x', false), tools: [tool] });
  expect([response.status, await response.json()]).toMatchObject([
    400,
    { error: { param: 'input', message: expect.stringContaining('/v1/responses') } },
  ]);
});

test('a body that is nested too deeply is refused with a row, as any other', async () => {
  const deep = `{"model":"at-chat","input":${'['.repeat(600)}${']'.repeat(600)}}`;
  const response = await fetch(`${shared.gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${testKey}`, 'content-type': 'application/json' },
    body: deep,
  });
  expect([response.status, await response.json()]).toMatchObject([
    400,
    { error: { message: expect.stringContaining('invalid request body: too') } },
  ]);
  expect(await rowOf(shared.gateway, response.headers.get('x-request-id') ?? '')).toMatchObject({
    status: 400,
  });
});

test('flat tools and its choice are read beside messages, too', async () => {
  const { tools, tool_choice } = asked('at-messages', '', false);
  const response = await post({
    model: 'at-messages',
    messages: [{ role: 'user', content: 'call tool get_weather' }],
    tools: [...tools, { name: 'other', input_schema: parameters }],
    tool_choice,
  });
  expect([response.status, await response.json()]).toMatchObject([
    200,
    { choices: [{ message: { tool_calls: [{ function: { name: 'get_weather' } }] } }] },
  ]);
});
