import { describe, expect, test } from 'vitest';
import { EventStreamReader } from '#upstream/index.ts';
import { parseExact, textProtocols, type JsonRecord } from '../../index.ts';

/** Responses with something in every part that comes in pieces. */
const responses: Record<keyof typeof textProtocols, JsonRecord> = {
  chat: {
    id: 'c',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    system_fingerprint: 'fp',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: 'words',
          reasoning_content: 'thought',
          annotations: [{ type: 'url_citation' }],
          tool_calls: [
            { id: 'a', type: 'function', function: { name: 'f', arguments: '{"n":1}' } },
            { id: 'b', type: 'function', function: { name: 'g', arguments: '{}' } },
          ],
        },
        logprobs: { content: [{ token: 'words', logprob: -1 }] },
        finish_reason: 'tool_calls',
      },
      { index: 1, message: { role: 'assistant', content: 'other' }, finish_reason: 'stop' },
    ],
    usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
  },
  messages: {
    id: 'msg',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [
      { type: 'thinking', thinking: 'thought', signature: 'sig' },
      { type: 'redacted_thinking', data: 'x' },
      { type: 'text', text: 'words', citations: [{ type: 'page_location', page: 1 }] },
      { type: 'tool_use', id: 'a', name: 'f', input: { id: 1, list: [] } },
    ],
    stop_reason: 'tool_use',
    stop_sequence: null,
    usage: { input_tokens: 3, output_tokens: 4 },
  },
  responses: {
    id: 'resp',
    object: 'response',
    created_at: 1,
    status: 'completed',
    model: 'm',
    output: [
      { id: 'r', type: 'reasoning', summary: [{ type: 'summary_text', text: 'thought' }] },
      {
        id: 'm',
        type: 'message',
        role: 'assistant',
        status: 'completed',
        content: [
          { type: 'output_text', text: 'words', annotations: [] },
          { type: 'refusal', refusal: 'no' },
        ],
      },
      { id: 'f', type: 'function_call', call_id: 'a', name: 'f', arguments: '{"n":1}' },
    ],
    usage: { input_tokens: 3, output_tokens: 4, total_tokens: 7 },
  },
  'generate-content': {
    candidates: [
      {
        index: 0,
        content: {
          role: 'model',
          parts: [
            { text: 'thought', thought: true },
            { text: 'words' },
            { functionCall: { name: 'f', args: { n: 1 } }, thoughtSignature: 'sig' },
          ],
        },
        finishReason: 'STOP',
      },
    ],
    modelVersion: 'm',
    usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 4, totalTokenCount: 7 },
  },
};

const names = Object.keys(responses) as (keyof typeof responses)[];

describe.each(names)('%s', (name) => {
  const protocol = textProtocols[name];

  test('a response as a stream is finished for the tap, and the same response again', () => {
    const context = { clientModel: 'm', upstreamModel: 'm', usageInjected: false };
    const tap = protocol.createStreamTap(context);
    const events: JsonRecord[] = [];
    const reader = new EventStreamReader({
      maxEventBytes: 100_000,
      onEvent(event) {
        tap.inspect(event);
        const data = event.data?.toString() ?? '';
        if (data.startsWith('{')) events.push(JSON.parse(data) as JsonRecord);
      },
    });
    reader.push(Buffer.from(protocol.toEvents(responses[name])));
    reader.end();
    expect(tap.finished).toBe(true);
    expect(tap.usage?.tokens).toMatchObject({ input: 3, output: 4 });
    expect(protocol.toWhole(events)).toEqual(responses[name]);
  });
});

test('numbers beyond 2^53 in a call arrive digit by digit', () => {
  const { messages } = textProtocols;
  const text = '{"id":12345678901234567890,"price":1.0}';
  const response = parseExact(
    `{"content":[{"type":"tool_use","id":"a","name":"f","input":${text}}],"stop_reason":"tool_use"}`,
  ) as JsonRecord;
  expect(messages.toEvents(response)).toContain(JSON.stringify(text).slice(1, -1));
  const whole = messages.toWhole([
    { type: 'message_start', message: { id: 'm' } },
    { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', input: {} } },
    {
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'input_json_delta', partial_json: text },
    },
  ]);
  expect(JSON.stringify(whole)).toContain(text);
});

test('chat: words and arguments that come in pieces are joined', () => {
  const delta = (value: object, finish_reason: string | null = null) => ({
    id: 'c',
    choices: [{ index: 0, delta: value, finish_reason }],
  });
  const call = (more: object) => delta({ tool_calls: [{ index: 0, ...more }] });
  const whole = textProtocols.chat.toWhole([
    delta({ role: 'assistant', content: '' }),
    delta({ content: 'so ' }),
    delta({ role: 'assistant', content: 'on' }),
    call({ id: 'a', type: 'function', function: { name: 'f', arguments: '{"n"' } }),
    call({ function: { arguments: ':1}' } }),
    delta({}, 'tool_calls'),
  ]);
  expect(whole['choices']).toEqual([
    {
      index: 0,
      finish_reason: 'tool_calls',
      message: {
        role: 'assistant',
        content: 'so on',
        tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{"n":1}' } }],
      },
    },
  ]);
});
