import { describe, expect, it } from 'vitest';
import type { Block, Candidate, GenerationEvent } from '#canonical/index.ts';
import { collectEvents } from '#test/support/collect-events.ts';
import { chatCodec } from '../../index.ts';
import { contentState } from '../reasoning.ts';

type Chunk = object | '[DONE]';

function eventsOf(...chunks: readonly Chunk[]): GenerationEvent[] {
  const decoder = chatCodec.createStreamDecoder();
  const events: GenerationEvent[] = [];
  const emit = (event: GenerationEvent) => void events.push(event);
  for (const chunk of chunks) {
    const data = Buffer.from(typeof chunk === 'string' ? chunk : JSON.stringify(chunk));
    decoder.push({ raw: data, name: null, data }, emit);
  }
  decoder.end(emit);
  return events;
}

const delta = (value: object, rest: object = {}) => ({
  choices: [{ index: 0, delta: value, ...rest }],
});
const stop = delta({}, { finish_reason: 'stop' });
const calls = (...entries: readonly object[]) => delta({ tool_calls: entries });
const called = (name: string, text: string) => ({ name, arguments: text });

function responseOf(...chunks: readonly Chunk[]): Candidate {
  const [candidate] = collectEvents(eventsOf(...chunks));
  if (candidate === undefined) throw new Error('no candidate');
  return candidate;
}

const blocksOf = (...deltas: readonly object[]): readonly Block[] =>
  responseOf(...deltas.map((each) => delta(each)), stop).blocks;

const callsOf = (...chunks: readonly Chunk[]) =>
  responseOf(...chunks, stop).blocks.map((block) =>
    block.type === 'tool-call' ? [block.id, block.name, block.arguments] : block,
  );

describe('calls in a chat stream', () => {
  it('pieces with one index belong together', () => {
    expect(
      callsOf(
        calls({ index: 0, id: 'a', type: 'function', function: called('f', '') }),
        calls({ index: 1, id: 'b', type: 'function', function: called('g', '') }),
        calls({ index: 0, function: { arguments: '{"x"' } }),
        calls({ index: 1, function: { arguments: '{}' } }),
        calls({ index: 0, function: { arguments: ':1}' } }),
      ),
    ).toEqual([
      ['a', 'f', '{"x":1}'],
      ['b', 'g', '{}'],
    ]);
  });

  it.each<[string, object[]]>([
    [
      'no index',
      [
        { id: 'a', function: called('f', '{}') },
        { id: 'b', function: called('f', '{}') },
      ],
    ],
    [
      'one index for all',
      [
        { index: 0, id: 'a', function: called('f', '{}') },
        { index: 0, id: 'b', function: called('f', '{}') },
      ],
    ],
    [
      'no index, in pieces',
      [
        { id: 'a', function: called('f', '{') },
        { function: { arguments: '}' } },
        { id: 'b', function: called('f', '{}') },
      ],
    ],
    [
      'id and name with every piece',
      [
        { index: 0, id: 'a', function: called('f', '{') },
        { index: 0, id: 'a', function: called('f', '}') },
        { index: 1, id: 'b', function: called('f', '{}') },
      ],
    ],
    [
      'empty ids in later pieces',
      [
        { index: 0, id: 'a', function: called('f', '{') },
        { index: 0, id: '', function: { name: '', arguments: '}' } },
        { index: 1, id: 'b', function: called('f', '{}') },
      ],
    ],
    [
      'the name later',
      [
        { index: 0, id: 'a', function: { arguments: '{' } },
        { index: 0, function: called('f', '}') },
        { index: 1, id: 'b', function: called('f', '{}') },
      ],
    ],
    [
      'arguments that are an object',
      [
        { index: 0, id: 'a', function: { name: 'f', arguments: {} } },
        { index: 1, id: 'b', function: called('f', '{}') },
      ],
    ],
  ])('K12: two calls with %s are two', (_, entries) => {
    const expected = [
      ['a', 'f', '{}'],
      ['b', 'f', '{}'],
    ];
    expect(callsOf(...entries.map((entry) => calls(entry)))).toEqual(expected);
    expect(callsOf(calls(...entries))).toEqual(expected);
  });

  it('K12: a new id at the same index is another call, even after one without arguments', () => {
    const entry = (id: string) => calls({ index: 0, id, function: called('f', '') });
    expect(callsOf(entry('a'), entry('b'))).toEqual([
      ['a', 'f', ''],
      ['b', 'f', ''],
    ]);
  });

  it('blanks are neither ids nor names', () => {
    expect(
      callsOf(
        calls({ index: 0, id: 'a', function: called('f', '{"a"') }),
        calls({ index: 0, id: ' ', function: called(' ', ':1}') }),
      ),
    ).toEqual([['a', 'f', '{"a":1}']]);
  });

  it('calls without ids are distinguished by complete arguments', () => {
    const entry = { index: 0, id: '', function: called('f', '{"a":1}') };
    expect(callsOf(calls(entry), calls(entry))).toHaveLength(2);
    expect(
      callsOf(
        calls({ ...entry, function: called('f', '{"a"') }),
        calls({ ...entry, function: called('f', ':1}') }),
      ),
    ).toEqual([[null, 'f', '{"a":1}']]);
  });

  it('a complete call ends when the next one begins', () => {
    const events = eventsOf(
      calls({ index: 0, id: 'a', function: called('f', '{}') }),
      calls({ index: 1, id: 'b', function: called('g', '') }),
      calls({ index: 2, id: 'c', function: called('h', '{}') }),
      calls({ index: 1, function: { arguments: '{}' } }),
      stop,
    );
    const order = events.map((event) =>
      'call' in event ? `${event.type} ${event.call}` : event.type,
    );
    expect(order).toEqual([
      'call-start 0',
      'call-arguments 0',
      'call-end 0',
      'call-start 1',
      'call-start 2',
      'call-arguments 2',
      'call-arguments 1',
      'call-end 1',
      'call-end 2',
      'finish',
    ]);
  });

  it('custom calls and the legacy form are read', () => {
    expect(
      callsOf(
        calls({ index: 0, id: 'a', type: 'custom', custom: { name: 'f', input: '' } }),
        calls({ index: 0, custom: { input: '4 + 4' } }),
      ),
    ).toEqual([['a', 'f', '4 + 4']]);
    expect(
      callsOf(
        delta({ function_call: { name: 'f', arguments: '{' } }),
        delta({ function_call: { arguments: '}' } }),
      ),
    ).toEqual([[null, 'f', '{}']]);
  });

  it('K21: a piece with a signature and a call yields both', () => {
    const extra_content = { google: { thought_signature: 'S' } };
    const response = responseOf(
      calls({ index: 0, id: 'a', function: called('f', '{}'), extra_content }),
      stop,
    );
    expect(response.blocks).toMatchObject([
      { name: 'f', state: { kind: 'thought-signature', data: 'S' } },
    ]);
  });
});

describe('the finish of a chat stream', () => {
  const text = delta({ content: 'x' });
  const call = calls({ index: 0, id: 'a', function: called('f', '{}') });
  const finish = (reason: string | null, rest: object = {}) =>
    delta({}, { finish_reason: reason, ...rest });

  it.each<[string, string, Chunk[]]>([
    ['K08: stop after a call is tool', 'tool', [call, finish('stop')]],
    ['K08: tool_calls without a call is end', 'end', [text, finish('tool_calls')]],
    ['function_call is tool', 'tool', [call, finish('function_call')]],
    ['the first reason wins', 'length', [text, finish('length'), finish('stop')]],
    ['length after a call stays', 'length', [call, finish('length')]],
    ['a reason before the call counts the call', 'tool', [text, finish('stop'), call]],
    ['K09: none is end', 'end', [text, '[DONE]']],
    ['an empty one is ignored', 'tool', [call, finish('')]],
    ['content_filter', 'filtered', [text, finish('content_filter')]],
    ['sensitive', 'filtered', [text, finish('sensitive')]],
    ['an unknown one', 'other', [text, finish('insufficient_system_resource')]],
    ['a refusal', 'refused', [delta({ refusal: 'No' }), finish('stop')]],
    ['an empty response with a reason', 'length', [finish('length')]],
    [
      'K04: an empty response without one',
      'other',
      [delta({ role: 'assistant', content: '' }), '[DONE]'],
    ],
  ])('%s', (_, reason, chunks) => {
    expect(responseOf(...chunks).finish.reason).toBe(reason);
    expect(eventsOf(...chunks).filter(({ type }) => type === 'finish')).toHaveLength(1);
  });

  it('of a response without content is known before the stream ends', () => {
    const decoder = chatCodec.createStreamDecoder();
    const events: GenerationEvent[] = [];
    const data = Buffer.from(JSON.stringify(finish('length')));
    decoder.push({ raw: data, name: null, data }, (event) => events.push(event));
    expect(events).toEqual([{ type: 'finish', finish: { reason: 'length' } }]);
  });

  it('names the stop sequence if the server does', () => {
    expect(responseOf(text, finish('stop', { stop_reason: 'END' })).finish).toEqual({
      reason: 'stop-sequence',
      stopSequence: 'END',
    });
    expect(responseOf(text, finish('stop', { stop_reason: 154_829 })).finish).toEqual({
      reason: 'end',
    });
  });
});

describe('what else a chat stream holds', () => {
  it.each([
    ['reasoning_content', [{ reasoning_content: 'h' }, { reasoning_content: 'm' }]],
    ['reasoning', [{ reasoning: 'h' }, { reasoning: 'm' }]],
    [
      'details',
      [
        { reasoning_details: [{ type: 'reasoning.text', text: 'h', index: 0 }] },
        { reasoning_details: [{ type: 'reasoning.summary', summary: 'm', index: 1 }] },
      ],
    ],
    [
      'all of them',
      [
        {
          reasoning_content: 'h',
          reasoning: 'h',
          reasoning_details: [{ type: 'reasoning.text', text: 'h', index: 0 }],
        },
        { reasoning: 'm', reasoning_details: [{ type: 'reasoning.text', text: 'm', index: 0 }] },
      ],
    ],
    [
      'parts of the content',
      [
        { content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'h' }] }] },
        { content: [{ type: 'thinking', thinking: 'm' }] },
      ],
    ],
  ])('K25: reasoning comes once: %s', (_, deltas) => {
    expect(blocksOf(...deltas, { content: 'x' })).toMatchObject([
      { type: 'reasoning', text: 'hm' },
      { type: 'text', text: 'x' },
    ]);
  });

  it('reasoning that came as reasoning_content is marked, before a text, a call and at the end', () => {
    const call = { tool_calls: [{ index: 0, id: 'c', function: { name: 'f', arguments: '{}' } }] };
    for (const after of [[{ content: 'x' }], [call], []]) {
      const [first] = blocksOf({ reasoning_content: 'h' }, { reasoning_content: 'm' }, ...after);
      expect(first).toEqual({ type: 'reasoning', text: 'hm', state: contentState });
    }
    const [other] = blocksOf({ reasoning: 'hm' }, { content: 'x' });
    expect(other).toEqual({ type: 'reasoning', text: 'hm' });
  });

  it('K21: opaque details and the first text in one piece yield both', () => {
    const detail = { type: 'reasoning.text', text: 'hm', format: 'x', index: 0 };
    const signed = { type: 'reasoning.text', signature: 'S', format: 'x', index: 0 };
    expect(
      blocksOf({ reasoning_details: [detail] }, { reasoning_details: [signed], content: 'x' }),
    ).toEqual([
      {
        type: 'reasoning',
        text: 'hm',
        state: {
          protocol: 'chat',
          kind: 'encrypted',
          data: JSON.stringify([{ ...detail, signature: 'S' }]),
        },
      },
      { type: 'text', text: 'x' },
    ]);
  });

  it('K10: chunks without choices, comments and nonsense are ignored', () => {
    const filters = { choices: [], prompt_filter_results: [] };
    const usage = { choices: [], usage: { prompt_tokens: 1 } };
    expect(
      responseOf(
        filters,
        delta({ role: 'assistant', content: '' }),
        delta({ content: 'x' }),
        stop,
        usage,
      ),
    ).toEqual({
      blocks: [{ type: 'text', text: 'x' }],
      finish: { reason: 'end' },
    });
    const decoder = chatCodec.createStreamDecoder();
    const nonsense = [null, '', '[]', '{}', '{"choices":null}', '{"choices":[null,{}]}', '{'];
    for (const data of nonsense) {
      const bytes = data === null ? null : Buffer.from(data);
      decoder.push({ raw: Buffer.from('x'), name: null, data: bytes }, () => expect.unreachable());
    }
  });

  it('several choices are kept apart', () => {
    const chunk = (index: number, content: string) => ({
      choices: [{ index, delta: { content } }],
    });
    const responses = collectEvents(eventsOf(chunk(0, 'a'), chunk(1, 'b'), chunk(0, 'A')));
    expect(responses.map(({ blocks }) => blocks)).toEqual([
      [{ type: 'text', text: 'aA' }],
      [{ type: 'text', text: 'b' }],
    ]);
  });

  it('citations, pictures, probabilities', () => {
    const url_citation = { url: 'https://e.com', title: 't', start_index: 0, end_index: 1 };
    const logprobs = { content: [{ token: 'x', logprob: -1, bytes: null, top_logprobs: [] }] };
    const response = responseOf(
      delta({ content: 'x' }, { logprobs }),
      delta({ annotations: [{ type: 'url_citation', url_citation }, { type: 'file' }] }),
      delta({ images: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }] }),
      stop,
    );
    expect(response.blocks).toEqual([
      {
        type: 'text',
        text: 'x',
        logprobs: [{ token: 'x', logprob: -1, bytes: null, top: [] }],
        citations: [{ url: 'https://e.com', title: 't', start: 0, end: 1 }],
      },
      { type: 'image', source: { kind: 'data', mime: 'image/png', base64: 'AAAA' } },
    ]);
  });
});
