import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { collectEvents } from '#test/support/collect-events.ts';
import {
  responseContext,
  chunk,
  chunks,
  decodeResponse,
  decodeStream,
  encodeStream,
} from '#test/support/generate-content-codec.ts';
import { nativeResponse } from '#test/support/generate-content-responses.ts';
import type { Candidate } from '#canonical/index.ts';
import { generateContentCodec } from '../../index.ts';

const candidate = (parts: unknown[], given: object = {}) => ({
  candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0, ...given }],
});
const collect = (text: string) => collectEvents(decodeStream(text));

describe('responses', () => {
  it('survive a round trip over the wire', () => {
    fc.assert(
      fc.property(nativeResponse, (response) => {
        const json = generateContentCodec.encodeResponse(response, null, responseContext());
        expect(decodeResponse(JSON.parse(JSON.stringify(json)))).toEqual(response);
      }),
    );
  });

  it('are the same as the only chunk of a stream', () => {
    fc.assert(
      fc.property(nativeResponse, (response) => {
        const json = generateContentCodec.encodeResponse(response, null, responseContext());
        const whole = decodeResponse(JSON.parse(JSON.stringify(json))).candidates;
        expect(collect(chunks(json))).toEqual(whole);
      }),
    );
  });

  it('have usage, id and model', () => {
    const candidates: Candidate[] = [{ blocks: [], finish: { reason: 'length' } }];
    const tokens = {
      input: 5,
      cacheRead: 4,
      cacheWrite: 2,
      cacheWrite1h: 1,
      output: 9,
      reasoning: 3,
    };
    const json = generateContentCodec.encodeResponse(
      { candidates, extensions: [] },
      tokens,
      responseContext(),
    );
    expect(json).toEqual({
      candidates: [
        { content: { role: 'model', parts: [{ text: '' }] }, finishReason: 'MAX_TOKENS', index: 0 },
      ],
      usageMetadata: {
        promptTokenCount: 12,
        cachedContentTokenCount: 4,
        candidatesTokenCount: 6,
        thoughtsTokenCount: 3,
        totalTokenCount: 21,
      },
      modelVersion: 'my-model',
      responseId: '0123456789abcdefghijklmn',
    });
  });

  it.each<[string, unknown, unknown, Candidate['finish']['reason']]>([
    ['STOP', [], 'STOP', 'end'],
    ['STOP after a call', [{ functionCall: { name: 'f' } }], 'STOP', 'tool'],
    ['a number', [], 1, 'end'],
    ['MAX_TOKENS after a call', [{ functionCall: { name: 'f' } }], 'MAX_TOKENS', 'length'],
    ['SAFETY', [{ text: 'x' }], 'SAFETY', 'filtered'],
    ['RECITATION', [], 'RECITATION', 'filtered'],
    ['IMAGE_OTHER', [], 'IMAGE_OTHER', 'filtered'],
    ['CONTINUATION', [], 'CONTINUATION', 'length'],
    ['MALFORMED_FUNCTION_CALL', [], 'MALFORMED_FUNCTION_CALL', 'other'],
    ['one that is new', [], 'BRAND_NEW', 'end'],
  ])('finish: %s', (_, parts, finishReason, reason) => {
    const json = candidate(parts as unknown[], { finishReason });
    expect(decodeResponse(json).candidates[0]?.finish).toMatchObject({ reason });
    expect(collect(chunks(json))[0]?.finish).toMatchObject({ reason });
  });

  it('K48: a candidate without parts is an empty response', () => {
    const json = { candidates: [{ content: { role: 'model' }, finishReason: 'MAX_TOKENS' }] };
    const empty = [{ blocks: [], finish: { reason: 'length' } }];
    expect(decodeResponse(json).candidates).toEqual(empty);
    expect(decodeResponse({ candidates: [{ finishReason: 'MAX_TOKENS' }] }).candidates).toEqual(
      empty,
    );
    expect(collect(chunks(json))).toEqual(empty);
  });

  it('a blocked prompt has no candidates, in both directions', () => {
    const json = { promptFeedback: { blockReason: 'SAFETY' }, usageMetadata: {} };
    const blocked: Candidate[] = [{ blocks: [], finish: { reason: 'blocked' } }];
    expect(decodeResponse(json).candidates).toEqual(blocked);
    expect(collect(chunks(json))).toEqual(blocked);
    const response = { candidates: blocked, extensions: [] };
    const written = generateContentCodec.encodeResponse(response, null, responseContext());
    expect(written).toMatchObject({ promptFeedback: { blockReason: 'OTHER' } });
    expect(written).not.toHaveProperty('candidates');
    expect(collect(encodeStream([{ type: 'finish', finish: { reason: 'blocked' } }]))).toEqual(
      blocked,
    );
  });

  it('finds the words that a source supports', () => {
    const text = 'Paris is nice. Ünï 🙂. Paris is nice.';
    const groundingMetadata = {
      groundingChunks: [{ web: { uri: 'https://a.example', title: 'A' } }, { web: {} }],
      groundingSupports: [
        {
          segment: { startIndex: 27, endIndex: 41, text: 'Paris is nice.' },
          groundingChunkIndices: [0, 1, 7],
        },
        { segment: { startIndex: 2, endIndex: 4, text: 'elsewhere' }, groundingChunkIndices: [0] },
      ],
    };
    const source = { url: 'https://a.example', title: 'A' };
    const citations = [
      { ...source, start: 23, end: 37 },
      { ...source, start: null, end: null },
    ];
    const json = candidate([{ text }], { groundingMetadata });
    expect(decodeResponse(json).candidates[0]?.blocks).toEqual([{ type: 'text', text, citations }]);
    const pieces = [
      chunk([{ text: text.slice(0, 9) }]),
      candidate([{ text: text.slice(9) }], { groundingMetadata }),
    ];
    expect(collect(chunks(...pieces))[0]?.blocks).toEqual([{ type: 'text', text, citations }]);
  });

  it('a malformed part is carried along instead of refused', () => {
    const json = candidate([{ inlineData: { mimeType: 'image/png', data: '&' } }, { text: 'x' }]);
    expect(decodeResponse(json).candidates[0]?.blocks).toMatchObject([
      { type: 'opaque', name: 'inlineData', ifForeign: 'drop' },
      { type: 'text', text: 'x' },
    ]);
  });
});
