import { describe, expect, it } from 'vitest';
import { chatCodec } from '../../index.ts';

const responseOf = (message: object, rest: object = {}) =>
  chatCodec.decodeResponse({ choices: [{ index: 0, message, finish_reason: 'stop', ...rest }] })
    .candidates[0];

describe('a whole response of a chat upstream', () => {
  it.each<[string, object, object[]]>([
    ['a text', { content: 'x' }, [{ type: 'text', text: 'x' }]],
    ['no content', { content: null }, []],
    ['an empty text', { content: '' }, []],
    [
      'parts, and the same thoughts beside them',
      {
        content: [
          { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] },
          { type: 'text', text: 'x' },
        ],
        reasoning_content: 'hm',
      },
      [
        { type: 'reasoning', text: 'hm' },
        { type: 'text', text: 'x' },
      ],
    ],
    ['the object that was asked for', { content: { a: 1 } }, [{ type: 'text', text: '{"a":1}' }]],
    ['a refusal', { content: null, refusal: 'No' }, [{ type: 'refusal', text: 'No' }]],
    [
      'a picture',
      { images: [{ type: 'image_url', image_url: { url: 'https://e.com/i' } }] },
      [{ type: 'image', source: { kind: 'url', url: 'https://e.com/i', mime: null } }],
    ],
    [
      'the legacy call',
      { function_call: { name: 'f', arguments: '{}' } },
      [{ type: 'tool-call', id: null, name: 'f', kind: 'function', arguments: '{}' }],
    ],
    [
      'members that are there and empty',
      {
        content: 'x',
        audio: { data: '' },
        function_call: { name: '', arguments: '' },
        tool_calls: null,
      },
      [{ type: 'text', text: 'x' }],
    ],
    ['speech', { audio: { data: 'AAAA', transcript: 'Hi' } }, [{ type: 'opaque', text: 'Hi' }]],
    ['nonsense', { content: 7, tool_calls: [null, {}], images: 'x', reasoning_details: [1] }, []],
  ])('%s', (_, message, blocks) => {
    const decoded = responseOf(message)?.blocks;
    expect(decoded).toMatchObject(blocks);
    expect(decoded).toHaveLength(blocks.length);
  });

  it('K08: the finish reflects what was delivered', () => {
    const tool_calls = [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }];
    expect(responseOf({ tool_calls })?.finish).toEqual({ reason: 'tool' });
    expect(responseOf({ content: 'x' }, { finish_reason: 'tool_calls' })?.finish).toEqual({
      reason: 'end',
    });
    expect(responseOf({ content: null }, { finish_reason: null })?.finish).toEqual({
      reason: 'other',
    });
    expect(responseOf({ refusal: 'No' })?.finish).toEqual({ reason: 'refused' });
  });

  it('choices are in the order of their indices', () => {
    const choice = (index: number) => ({
      index,
      message: { content: `${index}` },
      finish_reason: 'stop',
    });
    const { candidates } = chatCodec.decodeResponse({ choices: [choice(2), choice(0), choice(1)] });
    expect(candidates.map(({ blocks }) => blocks)).toEqual(
      ['0', '1', '2'].map((text) => [{ type: 'text', text }]),
    );
  });

  it('citations belong to the text in which they lie', () => {
    const url_citation = { url: 'https://e.com', title: 't', start_index: 3, end_index: 4 };
    const parts = ['abc', 'def'].map((text) => ({ type: 'text', text }));
    const message = { content: parts, annotations: [{ type: 'url_citation', url_citation }] };
    expect(responseOf(message)?.blocks).toEqual([
      { type: 'text', text: 'abc' },
      {
        type: 'text',
        text: 'def',
        citations: [{ url: 'https://e.com', title: 't', start: 0, end: 1 }],
      },
    ]);
  });
});
