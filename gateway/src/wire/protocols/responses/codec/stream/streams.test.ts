import { describe, expect, it } from 'vitest';
import type { GenerationEvent } from '#canonical/index.ts';
import { GatewayError } from '#errors/index.ts';
import {
  decodeBody,
  decodeEvents,
  decodeStream,
  encodeBody,
  encodeEvents,
  upstream,
} from '#test/support/responses-codec.ts';
import { checkResponsesStream } from '#test/support/responses-grammar.ts';
import { responseContext, bareRequest } from '#test/support/responses-samples.ts';
import type { JsonRecord } from '../../../shared/values.ts';
import { responsesCodec as codec } from '../../index.ts';

const typesOf = (text: string) =>
  checkResponsesStream(text).map(({ type }) => String(type).slice(9));
const start = (call: number): GenerationEvent => ({
  type: 'call-start',
  call,
  id: `call_${call}`,
  name: `f${call}`,
  kind: 'function',
});
const more = (call: number, text: string): GenerationEvent => ({
  type: 'call-arguments',
  call,
  text,
});
const over = (call: number): GenerationEvent => ({ type: 'call-end', call });
const itemAdded = (output_index: number, item: object) => ({
  type: 'response.output_item.added',
  output_index,
  item,
});
const itemDone = (output_index: number, item: object) => ({
  type: 'response.output_item.done',
  output_index,
  item,
});
const completed = (...output: readonly object[]) => ({
  type: 'response.completed',
  response: { id: 'resp_1', status: 'completed', output },
});
const reasoning = { type: 'reasoning', id: 'rs_1', summary: [] };
const call = { type: 'function_call', id: 'fc_1', call_id: 'c1', name: 'f', arguments: '' };
const message = (text: string) => ({
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
});

describe('responses: known failures', () => {
  it('K13: calls count from 0 whatever comes before them', () => {
    const events = decodeEvents(
      upstream(
        itemAdded(0, reasoning),
        itemDone(0, reasoning),
        itemAdded(1, call),
        itemDone(1, call),
      ),
    );
    expect(events).toEqual([
      { type: 'call-start', call: 0, id: 'c1', name: 'f', kind: 'function' },
      { type: 'call-end', call: 0 },
    ]);
  });

  it('K14: a ban on parallel calls is read and written', () => {
    const decoded = decodeBody({ model: 'm', input: 'Hi', parallel_tool_calls: false });
    expect(decoded.parallelTools).toBe(false);
    expect(encodeBody(decoded).json['parallel_tool_calls']).toBe(false);
  });

  it('K17, K18: every function has a name and an object’s schema; foreign tools are dropped', () => {
    const named = { type: 'function', description: null, strict: null } as const;
    const { json } = encodeBody({
      ...bareRequest,
      tools: [
        { ...named, name: 'a', schema: null },
        { ...named, name: 'b', schema: {} },
        { ...named, name: 'c', schema: { type: 'object', additionalProperties: false } },
        {
          type: 'hosted',
          kind: 'web-search',
          protocol: 'messages',
          name: 'w',
          value: { name: 'w' },
        },
      ],
    });
    expect(json['tools']).toEqual(
      ['a', 'b', 'c'].map((name) => ({
        type: 'function',
        name,
        parameters: {
          type: 'object',
          properties: {},
          ...(name === 'c' && { additionalProperties: false }),
        },
        strict: false,
      })),
    );
  });

  it('K19, K29: reasoning, call and result keep their order and their ids', () => {
    const input = [
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi' }] },
      { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'one' },
      { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c1', output: 'ok' },
      { type: 'reasoning', id: 'rs_2', summary: [], encrypted_content: 'two' },
      { type: 'message', role: 'assistant', content: 'Done' },
    ];
    expect(encodeBody(decodeBody({ model: 'm', input })).json['input']).toEqual(input);
  });

  it('K29: reasoning of another maker is dropped alone, and the items after it stay', () => {
    const { json, losses } = encodeBody({
      ...bareRequest,
      turns: [
        {
          role: 'assistant',
          blocks: [
            {
              type: 'reasoning',
              text: 'Hm',
              state: { protocol: 'messages', kind: 'signature', data: 'x' },
            },
            { type: 'tool-call', id: 'c', name: 'f', kind: 'function', arguments: '' },
          ],
        },
      ],
    });
    expect(json['input']).toEqual([
      { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
    ]);
    expect(losses).toEqual([{ what: 'reasoning', how: 'dropped' }]);
  });

  it('K25: summary and text of reasoning are sent once', () => {
    const delta = { output_index: 0, item_id: 'rs_1' };
    const both = {
      ...reasoning,
      summary: [
        { type: 'summary_text', text: 'So' },
        { type: 'summary_text', text: 'Then' },
      ],
      content: [{ type: 'reasoning_text', text: 'So, well' }],
      encrypted_content: 'blob',
    };
    const expected = {
      type: 'reasoning',
      text: 'So\n\nThen',
      summary: true,
      state: { protocol: 'responses', kind: 'encrypted', data: 'blob', id: 'rs_1' },
    };
    const streamed = upstream(
      itemAdded(0, reasoning),
      { type: 'response.reasoning_summary_text.delta', ...delta, summary_index: 0, delta: 'So' },
      { type: 'response.reasoning_text.delta', ...delta, content_index: 0, delta: 'So, well' },
      { type: 'response.reasoning_summary_text.done', ...delta, summary_index: 0, text: 'So' },
      { type: 'response.reasoning_summary_text.delta', ...delta, summary_index: 1, delta: 'Then' },
      itemDone(0, both),
      completed(both),
    );
    expect(decodeStream(streamed)[0]?.blocks).toEqual([expected]);
    const whole = codec.decodeResponse({ status: 'completed', output: [both] });
    expect(whole.candidates[0]?.blocks).toEqual([expected]);
    const raw = upstream(
      { type: 'response.reasoning_text.delta', ...delta, content_index: 0, delta: 'Raw' },
      completed(),
    );
    expect(decodeStream(raw)[0]?.blocks).toEqual([{ type: 'reasoning', text: 'Raw' }]);
  });

  it('K26: a call has all of its events and a place in the output', () => {
    const text = encodeEvents([start(0), more(0, '{"a"'), more(0, ':1}'), over(0)]);
    expect(typesOf(text)).toEqual([
      'created',
      'in_progress',
      'output_item.added',
      'function_call_arguments.delta',
      'function_call_arguments.delta',
      'function_call_arguments.done',
      'output_item.done',
      'completed',
    ]);
    const { response } = checkResponsesStream(text).at(-1) as { response: JsonRecord };
    expect(response['output']).toMatchObject([{ call_id: 'call_0', arguments: '{"a":1}' }]);
  });

  it('K27: an upstream failure is not a finish', () => {
    const failed = { type: 'response.failed', response: { status: 'failed', output: [] } };
    const events = decodeEvents(upstream(failed, { type: 'error', error: { message: 'no' } }));
    expect(events).toEqual([]);
  });

  it('K28: nothing is written after a failure', () => {
    const encoder = codec.createStreamEncoder(responseContext);
    const written = encoder.push({ type: 'text', text: 'Hi' });
    const failure = new GatewayError('channels_rate_limited', { retryAfter: 7 });
    const text = written + encoder.fail(failure);
    expect(encoder.push({ type: 'text', text: 'more' }) + encoder.end(null)).toBe('');
    expect(encoder.fail(failure)).toBe('');
    const last = checkResponsesStream(text).at(-1);
    expect(last).toMatchObject({
      type: 'response.failed',
      response: {
        id: 'resp_abcdefghijklmnopqrstuvwx',
        model: 'my-model',
        error: { code: 'rate_limit_exceeded' },
      },
    });
    expect(JSON.stringify(last)).toContain('Please try again in 7s.');
  });
});

describe('responses: the order of a stream', () => {
  it('interleaved parallel calls wait, except for the open one', () => {
    const encoder = codec.createStreamEncoder(responseContext);
    encoder.push(start(0));
    expect(encoder.push(more(0, '{"a"'))).toContain('"delta":"{\\"a\\""');
    expect(encoder.push(start(1)) + encoder.push(more(1, '{}'))).toBe('');
    expect(encoder.push(more(0, ':1}'))).toContain('function_call_arguments.delta');
    expect(encoder.push(over(1))).toBe('');
    const rest = encoder.push(over(0));
    expect(rest.indexOf('"name":"f0"')).toBeLessThan(rest.indexOf('"name":"f1"'));
    expect(encoder.push({ type: 'text', text: 'x' })).toContain('"output_index":2');
  });

  it('text during a call comes after it', () => {
    const text = encodeEvents([start(0), { type: 'text', text: 'x' }, more(0, '{}'), over(0)]);
    const { response } = checkResponsesStream(text).at(-1) as { response: { output: object[] } };
    expect(response.output).toMatchObject([{ arguments: '{}' }, { type: 'message' }]);
  });

  it('state without reasoning is a separate item; state of a text has no place', () => {
    const state = { protocol: 'responses', kind: 'encrypted', data: 'blob' } as const;
    const envelope = { protocol: 'messages', kind: 'envelope', data: 'gw2.x' } as const;
    const [candidate] = decodeStream(
      encodeEvents([
        { type: 'state', state },
        { type: 'block-end' },
        { type: 'text', text: 'a' },
        { type: 'state', state: envelope },
        { type: 'block-end' },
        { type: 'reasoning', text: 'b' },
        { type: 'state', state: envelope },
      ]),
    );
    expect(candidate?.blocks).toMatchObject([
      { type: 'reasoning', text: '', state: { data: 'blob' } },
      { type: 'text', text: 'a' },
      { type: 'reasoning', text: 'b', state: { data: 'gw2.x' } },
    ]);
    expect(candidate?.blocks[1]).not.toHaveProperty('state');
  });

  it('a citation may come after the end of its text', () => {
    const citation = { url: 'https://example.com/', title: 'T', start: 0, end: 2 };
    const [candidate] = decodeStream(
      encodeEvents([
        { type: 'text', text: 'Hi' },
        { type: 'block-end' },
        { type: 'citation', citation },
      ]),
    );
    expect(candidate?.blocks).toEqual([{ type: 'text', text: 'Hi', citations: [citation] }]);
  });

  it.each([
    ['length', 'incomplete', 'max_output_tokens'],
    ['context-full', 'incomplete', 'max_output_tokens'],
    ['filtered', 'incomplete', 'content_filter'],
    ['blocked', 'incomplete', 'content_filter'],
    ['pause', 'completed', undefined],
    ['stop-sequence', 'completed', undefined],
  ] as const)('%s ends it as %s', (reason, status, why) => {
    const text = encodeEvents([{ type: 'finish', finish: { reason } }]);
    const last = checkResponsesStream(text).at(-1) as { type: string; response: JsonRecord };
    expect(last.type).toBe(`response.${status}`);
    expect(last.response['incomplete_details']).toEqual(why === undefined ? null : { reason: why });
  });

  it('usage includes the cache in its sum', () => {
    const encoder = codec.createStreamEncoder(responseContext);
    const text = encoder.end({
      input: 10,
      cacheRead: 5,
      cacheWrite: 2,
      cacheWrite1h: 1,
      output: 7,
      reasoning: 3,
    });
    expect(checkResponsesStream(text).at(-1)?.['response']).toMatchObject({
      usage: {
        input_tokens: 18,
        input_tokens_details: { cached_tokens: 5, cache_write_tokens: 3 },
        output_tokens: 7,
        output_tokens_details: { reasoning_tokens: 3 },
        total_tokens: 25,
      },
    });
  });
});

describe('responses: streams of unusual servers', () => {
  it('content that only the last event has is read', () => {
    const args = { ...call, arguments: '{"a":1}' };
    const [candidate] = decodeStream(upstream(completed(message('Hi'), args)));
    expect(candidate?.blocks).toMatchObject([
      { type: 'text', text: 'Hi' },
      { type: 'tool-call', id: 'c1', arguments: '{"a":1}' },
    ]);
    expect(candidate?.finish).toEqual({ reason: 'tool' });
  });

  it('content that only the ends of items have is read', () => {
    const args = { ...call, arguments: '{"a":1}' };
    const text = upstream(itemDone(0, message('Hi')), itemDone(1, args), completed());
    expect(decodeStream(text)[0]?.blocks).toHaveLength(2);
  });

  it('parts may count from 1', () => {
    const place = { output_index: 0, item_id: 'msg_1', content_index: 1 };
    const text = upstream(
      itemAdded(0, { ...message(''), content: [] }),
      { type: 'response.output_text.delta', ...place, delta: 'Hi' },
      itemDone(0, message('Hi there')),
      completed(message('Hi there')),
    );
    expect(decodeStream(text)[0]?.blocks).toEqual([{ type: 'text', text: 'Hi there' }]);
  });

  it('events without names are read, unknown events are ignored', () => {
    const known = upstream(itemDone(0, message('Hi')), completed());
    const unnamed = known.replaceAll(/^event: .*\n/gm, '');
    const odd = upstream({ type: 'response.new_thing.delta', delta: 'x' }) + 'data: [DONE]\n\n';
    expect(decodeStream(odd + unnamed)).toEqual(decodeStream(known));
  });

  it('a body that ends early has no finish', () => {
    const events = decodeEvents(
      upstream(itemAdded(0, call), {
        type: 'response.function_call_arguments.delta',
        output_index: 0,
        delta: '{',
      }),
    );
    expect(events.map(({ type }) => type)).toEqual(['call-start', 'call-arguments', 'call-end']);
  });

  it('the finish is read', () => {
    const cut = (reason: string, ...output: readonly object[]) =>
      decodeStream(
        upstream({
          type: 'response.incomplete',
          response: { status: 'incomplete', incomplete_details: { reason }, output },
        }),
      )[0]?.finish.reason;
    expect(cut('max_output_tokens', message('Hi'))).toBe('length');
    expect(cut('content_filter', message('Hi'))).toBe('filtered');
    expect(cut('content_filter')).toBe('blocked');
  });
});
