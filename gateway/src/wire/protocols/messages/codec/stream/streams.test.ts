import { describe, expect, it } from 'vitest';
import type { GenerationEvent } from '#canonical/index.ts';
import { GatewayError } from '#errors/index.ts';
import { collectEvents } from '#test/support/collect-events.ts';
import { assertLegal, readFrames } from '#test/support/messages-grammar.ts';
import { responseContext } from '#test/support/messages-samples.ts';
import { decodeFrames, encodeEvents } from '#test/support/messages-wire.ts';
import { messagesCodec } from '../codec.ts';

const events = (...wire: Record<string, unknown>[]): GenerationEvent[] =>
  decodeFrames(
    wire
      .map((event) => `event: ${String(event['type'])}\ndata: ${JSON.stringify(event)}\n\n`)
      .join(''),
  );
const start = (index: number, block: object) => ({
  type: 'content_block_start',
  index,
  content_block: block,
});
const delta = (index: number, inner: object) => ({
  type: 'content_block_delta',
  index,
  delta: inner,
});
const stop = (index: number) => ({ type: 'content_block_stop', index });
const ending = (reason: string | null, rest: object = {}) => ({
  type: 'message_delta',
  delta: { stop_reason: reason, ...rest },
  usage: {},
});

const callStart = (call: number): GenerationEvent => ({
  type: 'call-start',
  call,
  id: `c${call}`,
  name: 'f',
  kind: 'function',
});
const args = (call: number, text: string): GenerationEvent => ({
  type: 'call-arguments',
  call,
  text,
});
const callEnd = (call: number): GenerationEvent => ({ type: 'call-end', call });
const text = (value: string): GenerationEvent => ({ type: 'text', text: value });
const thought = (value: string): GenerationEvent => ({ type: 'reasoning', text: value });

const blocks = (stream: string) =>
  readFrames(stream)
    .filter(({ name }) => name === 'content_block_start')
    .map(({ data }) => data['content_block']);
const ended = (stream: string) =>
  readFrames(stream).find(({ name }) => name === 'message_delta')?.data['delta'];

describe('the encoder', () => {
  it('opens with the estimate and a ping, and ends with the reported usage', () => {
    const usage = {
      input: 5,
      cacheRead: 1,
      cacheWrite: 2,
      cacheWrite1h: 0,
      output: 7,
      reasoning: 3,
    };
    const frames = readFrames(
      encodeEvents([text('hi'), { type: 'finish', finish: { reason: 'end' } }], usage),
    );
    expect(frames.map(({ name }) => name)).toEqual([
      'message_start',
      'ping',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ]);
    expect(frames[0]?.data).toMatchObject({
      message: {
        id: 'msg_abcdefghijklmnopqrstuvwx',
        model: 'my-model',
        content: [],
        stop_reason: null,
        usage: { input_tokens: 17, output_tokens: 0 },
      },
    });
    expect(frames.at(-2)?.data).toMatchObject({
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: {
        input_tokens: 5,
        cache_read_input_tokens: 1,
        cache_creation_input_tokens: 2,
        output_tokens: 7,
      },
    });
  });

  it('K01: begins with the type of the first block', () => {
    const envelope = { protocol: 'messages', kind: 'envelope', data: 'gw2.a.b' } as const;
    const stream = encodeEvents([
      text(''),
      thought('hm'),
      { type: 'state', state: envelope },
      text('hi'),
    ]);
    assertLegal(stream);
    expect(blocks(stream).map((block) => (block as { type: string }).type)).toEqual([
      'thinking',
      'text',
    ]);
    expect(collectEvents(decodeFrames(stream))[0]?.blocks).toEqual([
      { type: 'reasoning', text: 'hm', state: envelope },
      { type: 'text', text: 'hi' },
    ]);
  });

  it('does not send state that is not for the client', () => {
    const stream = encodeEvents([
      thought('hm'),
      { type: 'state', state: { protocol: 'responses', kind: 'encrypted', data: 'SECRET' } },
    ]);
    assertLegal(stream);
    expect(stream).not.toContain('SECRET');
  });

  it('K02, K03, K06: writes arguments as they come, after an empty start', () => {
    const encoder = messagesCodec.createStreamEncoder(responseContext);
    const parts = ['{"a":', '"x', 'y"}'];
    const begun = encoder.push(callStart(0));
    const caller = { type: 'direct' };
    expect(blocks(begun)).toEqual([{ type: 'tool_use', id: 'c0', name: 'f', input: {}, caller }]);
    const written = parts.map((part) => readFrames(encoder.push(args(0, part)))[0]?.data['delta']);
    expect(written).toEqual(
      parts.map((part) => ({ type: 'input_json_delta', partial_json: part })),
    );
    const rest = encoder.push(callEnd(0)) + encoder.end(null);
    expect(assertLegal(begun + parts.map((part) => messagesFrame(part)).join('') + rest)).toEqual([
      '{"a":"xy"}',
    ]);
    expect(ended(rest)).toMatchObject({ stop_reason: 'tool_use' });
  });

  it('streams the open one of interleaved calls, while the others wait', () => {
    const encoder = messagesCodec.createStreamEncoder(responseContext);
    const push = (event: GenerationEvent) => encoder.push(event);
    const before = push(callStart(0)) + push(args(0, '{"a"'));
    const held = push(callStart(1)) + push(args(1, '{"b":')) + push(text('done'));
    expect(held).toBe('');
    const own = push(args(0, ':1}'));
    expect(own).toContain('partial_json');
    const turn = push(callEnd(0)) + push(args(1, '2}'));
    expect(turn).toContain(JSON.stringify('{"b":'));
    const stream = before + own + turn + push(callEnd(1)) + encoder.end(null);
    expect(assertLegal(stream)).toEqual(['{"a":1}', '{"b":2}']);
    expect(blocks(stream).map((block) => (block as { type: string }).type)).toEqual([
      'tool_use',
      'tool_use',
      'text',
    ]);
  });

  it.each([
    [[], '{}'],
    [['', ' '], '{}'],
    [['[1', ']'], '{"value":[1]}'],
    [['no ', 'json'], '{"raw_arguments":"no json"}'],
    [[' {"a"', ':1}'], ' {"a":1}'],
  ])('K05: gives clients an object to parse for the arguments %j', (parts, written) => {
    const stream = encodeEvents([callStart(0), ...parts.map((part) => args(0, part)), callEnd(0)]);
    expect(assertLegal(stream)).toEqual([written]);
  });

  it('writes an empty message', () => {
    const stream = encodeEvents([{ type: 'finish', finish: { reason: 'blocked' } }]);
    assertLegal(stream);
    expect(ended(stream)).toEqual({
      stop_reason: 'refusal',
      stop_sequence: null,
      stop_details: { type: 'refusal', category: null, explanation: null },
      container: null,
    });
  });

  it.each([
    ['end', 'end_turn'],
    ['length', 'max_tokens'],
    ['context-full', 'model_context_window_exceeded'],
    ['tool', 'end_turn'],
    ['filtered', 'refusal'],
    ['refused', 'end_turn'],
    ['pause', 'pause_turn'],
    ['other', 'end_turn'],
  ] as const)('ends %s without calls with %s', (reason, expected) => {
    const stream = encodeEvents([text('x'), { type: 'finish', finish: { reason } }]);
    expect(ended(stream)).toMatchObject({ stop_reason: expected, stop_sequence: null });
  });

  it('fails with an error event and no end', () => {
    const encoder = messagesCodec.createStreamEncoder(responseContext);
    const stream = encoder.push(text('hi')) + encoder.fail(new GatewayError('upstream_overloaded'));
    expect(readFrames(stream).at(-1)).toMatchObject({
      name: 'error',
      data: { error: { type: 'overloaded_error' } },
    });
    expect(stream).not.toContain('message_stop');
  });
});

function messagesFrame(part: string): string {
  const data = delta(0, { type: 'input_json_delta', partial_json: part });
  return `event: content_block_delta\ndata: ${JSON.stringify(data)}\n\n`;
}

describe('the decoder', () => {
  it('K05, K06: passes arguments on as they come, and missing ones as an object', () => {
    const seen = events(
      start(0, { type: 'tool_use', id: 'a', name: 'f', input: {} }),
      delta(0, { type: 'input_json_delta', partial_json: '' }),
      delta(0, { type: 'input_json_delta', partial_json: '{"x"' }),
      delta(0, { type: 'input_json_delta', partial_json: ':1}' }),
      stop(0),
      start(1, { type: 'tool_use', id: 'b', name: 'g', input: {} }),
      stop(1),
      start(2, { type: 'tool_use', id: 'c', name: 'h', input: { b: 1, a: 2 } }),
      ending('tool_use'),
    );
    expect(seen.filter(({ type }) => type === 'call-arguments')).toEqual([
      args(0, '{"x"'),
      args(0, ':1}'),
      args(1, '{}'),
      args(2, '{"b":1,"a":2}'),
    ]);
    expect(seen.filter(({ type }) => type === 'call-end')).toHaveLength(3);
    expect(seen.at(-1)).toEqual({ type: 'finish', finish: { reason: 'tool' } });
  });

  it('keeps adjacent texts apart, with their citations', () => {
    const cited = {
      type: 'web_search_result_location',
      url: 'https://a.example',
      title: 'A',
      encrypted_index: 'x',
      cited_text: 'y',
    };
    const [candidate] = collectEvents(
      events(
        start(0, { type: 'text', text: '' }),
        delta(0, { type: 'text_delta', text: 'one' }),
        stop(0),
        start(1, { type: 'text', text: '', citations: [] }),
        delta(1, { type: 'citations_delta', citation: cited }),
        delta(1, {
          type: 'citations_delta',
          citation: { type: 'char_location', document_index: 0 },
        }),
        delta(1, { type: 'text_delta', text: 'two' }),
        stop(1),
        ending('end_turn'),
      ),
    );
    expect(candidate?.blocks).toEqual([
      { type: 'text', text: 'one' },
      {
        type: 'text',
        text: 'two',
        citations: [{ url: 'https://a.example', title: 'A', start: null, end: null }],
        citesOwn: true,
      },
    ]);
  });

  it('puts signatures on their thinking, visible or not', () => {
    const signature = (data: string) => ({ protocol: 'messages', kind: 'signature', data });
    const [candidate] = collectEvents(
      events(
        start(0, { type: 'thinking', thinking: '', signature: '' }),
        delta(0, { type: 'thinking_delta', thinking: 'hm\n' }),
        delta(0, { type: 'signature_delta', signature: 'S1' }),
        stop(0),
        start(1, { type: 'thinking', thinking: '' }),
        delta(1, { type: 'signature_delta', signature: 'S2' }),
        stop(1),
        start(2, { type: 'redacted_thinking', data: 'R' }),
        stop(2),
        ending('end_turn'),
      ),
    );
    expect(candidate?.blocks).toEqual([
      { type: 'reasoning', text: 'hm\n', state: signature('S1') },
      { type: 'reasoning', text: '', state: signature('S2') },
      { type: 'reasoning', text: '', state: { ...signature('R'), kind: 'redacted' } },
    ]);
  });

  it('carries calls of hosted tools whole', () => {
    const [candidate] = collectEvents(
      events(
        start(0, { type: 'server_tool_use', id: 's', name: 'web_search', input: {} }),
        delta(0, { type: 'input_json_delta', partial_json: '{"query":"x"}' }),
        stop(0),
        ending('end_turn'),
      ),
    );
    expect(candidate).toMatchObject({
      blocks: [{ type: 'opaque', value: { id: 's', input: { query: 'x' } } }],
      finish: { reason: 'end' },
    });
  });

  it('reads streams that omit frames, and nothing after the end', () => {
    const seen = events(
      delta(0, { type: 'text_delta', text: 'hi' }),
      ending('end_turn'),
      { type: 'message_stop' },
      delta(0, { type: 'text_delta', text: 'more' }),
    );
    expect(collectEvents(seen)).toEqual([
      { blocks: [{ type: 'text', text: 'hi' }], finish: { reason: 'end' } },
    ]);
  });

  it.each<[string, object, GenerationEvent | undefined]>([
    [
      'stop_sequence',
      { stop_sequence: 'END' },
      { type: 'finish', finish: { reason: 'stop-sequence', stopSequence: 'END' } },
    ],
    ['refusal', {}, { type: 'finish', finish: { reason: 'blocked' } }],
    ['pause_turn', {}, { type: 'finish', finish: { reason: 'pause' } }],
    ['model_context_window_exceeded', {}, { type: 'finish', finish: { reason: 'context-full' } }],
    ['tool_use', {}, { type: 'finish', finish: { reason: 'end' } }],
    ['something_new', {}, { type: 'finish', finish: { reason: 'end', isGuess: true } }],
  ])('ends with %s', (reason, rest, expected) => {
    expect(events(ending(reason, rest)).at(-1)).toEqual(expected);
  });

  it('distinguishes a refused prompt from a response that was cut', () => {
    const cut = events(delta(0, { type: 'text_delta', text: 'I' }), ending('refusal'));
    expect(cut.at(-1)).toEqual({ type: 'finish', finish: { reason: 'filtered' } });
  });
});
