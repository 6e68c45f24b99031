import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startSimulator, type Simulator } from '../src/index.ts';

let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator();
});
afterAll(() => simulator.close());

const addresses = {
  messages: '/v1/messages/count_tokens',
  responses: '/v1/responses/input_tokens',
  'generate-content': '/v1beta/models/demo-chat:countTokens',
};

async function count(protocol: keyof typeof addresses, body: object) {
  const response = await fetch(simulator.url + addresses[protocol], {
    method: 'POST',
    headers: {
      authorization: 'Bearer key',
      'x-goog-api-key': 'key',
      'anthropic-version': '2023-06-01',
    },
    body: JSON.stringify(body),
  });
  return { status: response.status, text: await response.text() };
}

test('the official client counts the same input as a response reports', async () => {
  const client = new OpenAI({ apiKey: 'key', baseURL: `${simulator.url}/v1`, maxRetries: 0 });
  const request = { model: 'demo-chat', instructions: 'Be brief.', input: 'how many are these?' };
  const counted = await client.responses.inputTokens.count(request);
  const answered = await client.responses.create(request);
  expect(counted).toMatchObject({
    object: 'response.input_tokens',
    input_tokens: answered.usage?.input_tokens,
  });
});

const messages = { model: 'demo-chat', messages: [{ role: 'user', content: 'hello' }] };
const contents = [{ role: 'user', parts: [{ text: 'hello' }] }];
const input = { model: 'demo-chat', input: 'hello' };

describe('counters refuse members that are not part of a count', () => {
  test.each<[keyof typeof addresses, object, RegExp]>([
    ['messages', { ...messages, max_tokens: 5 }, /max_tokens: Extra inputs are not permitted/],
    ['messages', { ...messages, stream: false }, /stream: Extra inputs are not permitted/],
    ['messages', { ...messages, stop_sequences: ['x'] }, /stop_sequences: Extra inputs/],
    ['messages', { ...messages, metadata: { user_id: 'u' } }, /metadata: Extra inputs/],
    ['responses', { ...input, stream: false }, /Unknown parameter: 'stream'/],
    ['responses', { ...input, max_output_tokens: 50 }, /Unknown parameter: 'max_output_tokens'/],
    ['responses', { ...input, store: false }, /Unknown parameter: 'store'/],
    ['generate-content', { contents, tools: [] }, /Unknown name \\"tools\\"/],
    ['generate-content', { contents, system_instruction: {} }, /Unknown name \\"systemIns/],
    ['generate-content', { generateContentRequest: { contents } }, /model is not specified/],
    [
      'generate-content',
      { generateContentRequest: { model: 'models/other', contents } },
      /must be models\/demo-chat/,
    ],
    [
      'generate-content',
      { contents, generateContentRequest: { model: 'models/demo-chat', contents } },
      /cannot both be set/,
    ],
  ])('%s %j', async (protocol, body, message) => {
    const { status, text } = await count(protocol, body);
    expect(status).toBe(400);
    expect(text).toMatch(message);
  });

  test('and accept those that are', async () => {
    const wrapped = { model: 'models/demo-chat', contents, tools: [] };
    const counted = await Promise.all([
      count('messages', messages),
      count('responses', input),
      count('generate-content', { contents }),
      count('generate-content', { generateContentRequest: wrapped }),
    ]);
    expect(counted.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  });
});
