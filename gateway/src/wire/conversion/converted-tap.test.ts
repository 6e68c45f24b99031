import { describe, expect, test } from 'vitest';
import { UnreadableResponse, verdict, type StreamTap } from '#protocols/index.ts';
import { readerOf } from '#test/support/converted-reader.ts';

const echo = { clientModel: 'm', upstreamModel: 'up' };
const clients = ['chat', 'responses', 'messages', 'generate-content'] as const;

function feed(tap: StreamTap, data: string, name: string | null = null) {
  const raw = Buffer.from(`${name === null ? '' : `event: ${name}\n`}data: ${data}\n\n`);
  const flags = tap.inspect({ raw, name, data: Buffer.from(data) });
  return { flags, frames: (flags & verdict.replace) === 0 ? '' : String(tap.replacement) };
}

const chunk = (delta: object, finish: string | null = null) =>
  JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] });

describe.each(clients.filter((client) => client !== 'chat'))('chat to %s', (client) => {
  const tap = () => readerOf('chat', client).createStreamTap({ ...echo, usageInjected: false });

  test('an event without visible content does not end failover', () => {
    const watched = tap();
    expect(feed(watched, chunk({ role: 'assistant', content: '' })).flags & verdict.content).toBe(
      0,
    );
    const { flags, frames } = feed(watched, chunk({ content: 'hi' }));
    expect(flags & verdict.content).toBe(verdict.content);
    expect(frames).toContain('hi');
  });

  test('nothing that means success is written before the end', () => {
    const watched = tap();
    feed(watched, chunk({ content: 'hi' }));
    const last = feed(watched, chunk({}, 'stop'));
    const done = feed(watched, '[DONE]');
    expect(last.frames + done.frames).not.toMatch(/message_stop|response\.completed|finishReason/);
    expect(done.flags & verdict.terminal).toBe(verdict.terminal);
    expect([watched.finished, watched.closed]).toEqual([true, true]);
    expect(watched.completion()).toMatch(/message_stop|response\.completed|finishReason/);
  });

  test('K04 an end without content is a failure', () => {
    const watched = tap();
    feed(watched, chunk({ role: 'assistant' }));
    expect(feed(watched, '[DONE]').flags).toBe(verdict.failed);
    expect(watched.finished).toBe(false);
  });

  test('a response that is empty for a reason is a response', () => {
    const watched = tap();
    feed(watched, chunk({ role: 'assistant' }));
    feed(watched, chunk({}, 'length'));
    expect(feed(watched, '[DONE]').flags & verdict.failed).toBe(0);
    expect(watched.finished).toBe(true);
  });
});

test('reasoning without a signature gets one of ours, before anything else begins', () => {
  const tap = readerOf('chat', 'messages').createStreamTap({ ...echo, usageInjected: false });
  feed(tap, chunk({ reasoning_content: 'so' }));
  const { frames } = feed(tap, chunk({ content: 'hi' }));
  expect(frames).toMatch(/"signature_delta","signature":"gw2\..*content_block_stop.*text_delta/s);
});

describe('work that blocks the thread for too long is a failure', () => {
  const tapOf = (upstream: (typeof clients)[number], client: (typeof clients)[number]) =>
    readerOf(upstream, client).createStreamTap({ ...echo, usageInjected: false });
  const parts = (count: number) =>
    JSON.stringify({
      candidates: [
        { index: 0, content: { parts: Array.from({ length: count }, () => ({ text: 'a' })) } },
      ],
    });

  test('an event with too much output', () => {
    const tap = tapOf('generate-content', 'messages');
    expect(feed(tap, parts(8_192)).flags & verdict.failed).toBe(0);
    // Each event for itself.
    expect(feed(tap, parts(8_192)).flags & verdict.failed).toBe(0);
    expect(feed(tap, parts(8_193)).flags).toBe(verdict.failed);
    expect(tap.failure).toMatchObject({ error: { message: expect.stringContaining('complex') } });
  });

  test('an event with too many values, whatever they are', () => {
    const holding = (values: number) =>
      JSON.stringify({ choices: [{ delta: { content: 'a' } }], x: Array(values).fill(1000) });
    const tap = tapOf('chat', 'messages');
    expect(feed(tap, holding(131_000)).flags & verdict.failed).toBe(0);
    expect(feed(tap, holding(132_000)).flags).toBe(verdict.failed);
  });

  test('a stream longer than any real one', () => {
    const tap = tapOf('chat', 'responses');
    const text = 'a'.repeat(2 ** 20);
    for (let count = 0; count < 4; count += 1) {
      expect(feed(tap, chunk({ content: text })).flags & verdict.failed).toBe(0);
    }
    expect(feed(tap, chunk({ content: 'a' })).flags).toBe(verdict.failed);
  });

  test('but not the last event of a response, which repeats the log probability of each word', () => {
    const tap = tapOf('responses', 'chat');
    const word = { token: 'a', logprob: -0.1, bytes: [97], top_logprobs: [] };
    const logprobs = Array.from({ length: 40_000 }, () => word);
    const content = [{ type: 'output_text', text: 'hello', annotations: [], logprobs }];
    const item = { id: 'msg', type: 'message', role: 'assistant', status: 'completed', content };
    const response = { id: 'r', object: 'response', status: 'completed', output: [item] };
    const event = (type: string, more: object) =>
      feed(tap, JSON.stringify({ type, output_index: 0, ...more }), type);
    event('response.created', { response: { ...response, output: [] } });
    event('response.output_item.added', { item: { ...item, content: [] } });
    event('response.output_text.delta', { item_id: 'msg', content_index: 0, delta: 'hello' });
    expect(event('response.output_item.done', { item }).flags & verdict.failed).toBe(0);
    const { flags } = event('response.completed', { response });
    expect(flags & verdict.failed).toBe(0);
    expect(tap.finished).toBe(true);
  });
});

test('frames of one network chunk are adjacent, so that they are written at once', () => {
  const tap = readerOf('chat', 'messages').createStreamTap({ ...echo, usageInjected: false });
  feed(tap, chunk({ content: 'a' }));
  const first = tap.replacement!;
  feed(tap, chunk({ content: 'b' }));
  expect(tap.replacement?.buffer).toBe(first.buffer);
  expect(tap.replacement?.byteOffset).toBe(first.byteOffset + first.length);
});

describe('K04 generate-content', () => {
  const nothing = (finishReason: string) =>
    JSON.stringify({
      candidates: [{ index: 0, content: { role: 'model', parts: [] }, finishReason }],
    });

  test('an empty response may still have cost something, which is the operator’s loss', () => {
    const usage = { promptTokenCount: 30, candidatesTokenCount: 7 };
    const body = nothing('OTHER').replace('{', `{"usageMetadata":${JSON.stringify(usage)},`);
    const read = () => readerOf('generate-content', 'chat').readResponse(Buffer.from(body), echo);
    expect(read).toThrow(
      expect.objectContaining({
        usage: { tokens: expect.objectContaining({ input: 30, output: 7 }), implausible: false },
      }),
    );
  });

  test.each(['OTHER', 'MALFORMED_FUNCTION_CALL'])('a response with only %s is empty', (reason) => {
    const reader = readerOf('generate-content', 'chat');
    expect(() => reader.readResponse(Buffer.from(nothing(reason)), echo)).toThrow(
      UnreadableResponse,
    );
    const tap = reader.createStreamTap({ ...echo, usageInjected: false });
    const { flags } = feed(tap, nothing(reason));
    expect(tap.finished && (flags & verdict.failed) === 0).toBe(false);
  });

  test('K48 a response with only MAX_TOKENS is an empty response that was cut', () => {
    const reader = readerOf('generate-content', 'chat');
    const { body } = reader.readResponse(Buffer.from(nothing('MAX_TOKENS')), echo);
    expect(JSON.parse(String(body))).toMatchObject({ choices: [{ finish_reason: 'length' }] });
  });
});

test('K08 calls determine the finish reason, whatever was reported', () => {
  const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } };
  const answer = (tool_calls: object[], finish_reason: string) =>
    Buffer.from(
      JSON.stringify({
        choices: [
          { index: 0, message: { role: 'assistant', content: 'x', tool_calls }, finish_reason },
        ],
      }),
    );
  const reader = readerOf('chat', 'messages');
  const reasonOf = (body: Buffer) =>
    (JSON.parse(String(reader.readResponse(body, echo).body)) as { stop_reason: string })
      .stop_reason;
  expect(reasonOf(answer([call], 'stop'))).toBe('tool_use');
  expect(reasonOf(answer([], 'tool_calls'))).toBe('end_turn');
});
