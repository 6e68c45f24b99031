import { describe, expect, it } from 'vitest';
import { collectEvents } from '#test/support/collect-events.ts';
import { chunk, chunks, decodeStream } from '#test/support/generate-content-codec.ts';

const collect = (text: string) => collectEvents(decodeStream(text));
const state = { protocol: 'generate-content', kind: 'thought-signature', data: 'c2ln' } as const;

describe('streams of the upstream', () => {
  it('K21: a part with content and a signature yields both', () => {
    const text = chunks(
      chunk([{ text: 'Hel', thoughtSignature: 'c2ln' }]),
      chunk([{ text: 'lo' }]),
      chunk([{ functionCall: { name: 'f', args: { a: 1 } }, thoughtSignature: 'c2ln' }], 'STOP'),
    );
    expect(decodeStream(text)).toEqual([
      { type: 'text', text: 'Hel' },
      { type: 'state', state },
      { type: 'text', text: 'lo' },
      { type: 'call-start', call: 0, id: null, name: 'f', kind: 'function', state },
      { type: 'call-arguments', call: 0, text: '{"a":1}' },
      { type: 'call-end', call: 0 },
      { type: 'finish', finish: { reason: 'tool' } },
    ]);
  });

  it('no signature is lost if several parts of a kind have one', () => {
    const parts = [
      { text: 'a', thoughtSignature: 'MQ==' },
      { text: 'b', thoughtSignature: 'Mg==' },
      { text: '', thought: true, thoughtSignature: 'Mw==' },
    ];
    expect(collect(chunks(chunk(parts, 'STOP')))[0]?.blocks).toEqual([
      { type: 'text', text: 'a', state: { ...state, data: 'MQ==' } },
      { type: 'text', text: 'b', state: { ...state, data: 'Mg==' } },
      { type: 'reasoning', text: '', state: { ...state, data: 'Mw==' } },
    ]);
  });

  it.each([
    [
      'one chunk',
      [
        chunk(
          [
            { functionCall: { name: 'f', id: 'x' } },
            { functionCall: { name: 'f' } },
            { functionCall: { name: 'g' } },
          ],
          'STOP',
        ),
      ],
    ],
    [
      'a chunk each',
      [
        chunk([{ functionCall: { name: 'f', id: 'x' } }]),
        chunk([{ functionCall: { name: 'f' } }]),
        chunk([{ functionCall: { name: 'g' } }]),
        chunk([{ text: '' }], 'STOP'),
      ],
    ],
  ])('K12: parallel calls over %s are numbered', (_, responses) => {
    const starts = decodeStream(chunks(...responses)).filter(({ type }) => type === 'call-start');
    expect(starts).toMatchObject([
      { call: 0, id: 'x', name: 'f' },
      { call: 1, id: null, name: 'f' },
      { call: 2, id: null, name: 'g' },
    ]);
  });

  it('arguments that come value by value are joined', () => {
    const more = (partialArgs: unknown[], willContinue = true) =>
      chunk([{ functionCall: { partialArgs, willContinue } }]);
    const text = chunks(
      chunk([{ functionCall: { name: 'f', willContinue: true } }]),
      more([{ jsonPath: '$.a.b[0]', stringValue: 'x', willContinue: true }]),
      more([{ jsonPath: '$.a.b[0]', stringValue: 'y' }]),
      more([
        { jsonPath: "$['c d']", numberValue: 0 },
        { jsonPath: '$.__proto__.e', boolValue: false },
      ]),
      more([{ jsonPath: '$.a.b[9999]', nullValue: 'NULL_VALUE' }]),
      chunk([{ functionCall: {} }]),
      chunk([{ functionCall: { name: 'g' } }], 'STOP'),
    );
    const blocks = collect(text)[0]?.blocks;
    expect(blocks).toMatchObject([
      { name: 'f', arguments: '{"a":{"b":["xy"]},"c d":0,"__proto__":{"e":false}}' },
      { name: 'g', arguments: '{}' },
    ]);
    expect(({} as { e?: unknown }).e).toBeUndefined();
  });

  it('a reason in every chunk ends the candidate once', () => {
    const text = chunks(chunk([{ text: 'a' }], 'STOP'), chunk([{ text: 'b' }], 'STOP'));
    expect(decodeStream(text).map(({ type }) => type)).toEqual(['text', 'text', 'finish']);
  });

  it('candidates are kept apart, and images are blocks', () => {
    const image = { inlineData: { mimeType: 'image/png', data: 'AA==' } };
    const second = { content: { parts: [image] }, finishReason: 'STOP', index: 1 };
    const text = chunks({ ...chunk([{ text: 'a' }]) }, { candidates: [second] }, chunk([], 'STOP'));
    expect(collect(text)).toMatchObject([
      { blocks: [{ type: 'text', text: 'a' }], finish: { reason: 'end' } },
      { blocks: [{ type: 'image', source: { base64: 'AA==' } }], finish: { reason: 'end' } },
    ]);
  });
});
