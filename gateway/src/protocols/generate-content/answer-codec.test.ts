import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { collectEvents } from '../../../test/support/collect-events.ts';
import {
  answerContext,
  chunk,
  chunks,
  decodeAnswer,
  decodeStream,
  encodeStream,
} from '../../../test/support/generate-content-codec.ts';
import { answerEvents, nativeAnswer } from '../../../test/support/generate-content-answers.ts';
import type { Candidate, GenerationEvent } from '../../canonical/index.ts';
import { GatewayError } from '../../errors/index.ts';
import { isRecord } from '../values.ts';
import { generateContentCodec } from './index.ts';

const candidate = (parts: unknown[], given: object = {}) => ({
  candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0, ...given }],
});
const collect = (text: string) => collectEvents(decodeStream(text));
const state = { protocol: 'generate-content', kind: 'thought-signature', data: 'c2ln' } as const;

describe('answers', () => {
  it('come back as they were', () => {
    fc.assert(
      fc.property(nativeAnswer, (response) => {
        const json = generateContentCodec.encodeResponse(response, null, answerContext());
        expect(decodeAnswer(JSON.parse(JSON.stringify(json)))).toEqual(response);
      }),
    );
  });

  it('are the same, whole or as the only chunk of a stream', () => {
    fc.assert(
      fc.property(nativeAnswer, (response) => {
        const json = generateContentCodec.encodeResponse(response, null, answerContext());
        const whole = decodeAnswer(JSON.parse(JSON.stringify(json))).candidates;
        expect(collect(chunks(json))).toEqual(whole);
      }),
    );
  });

  it('say what they used and who they are', () => {
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
      answerContext(),
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
    ['one that is new', [], 'BRAND_NEW', 'other'],
  ])('finish: %s', (_, parts, finishReason, reason) => {
    const json = candidate(parts as unknown[], { finishReason });
    expect(decodeAnswer(json).candidates[0]?.finish).toEqual({ reason });
    expect(collect(chunks(json))[0]?.finish).toEqual({ reason });
  });

  it('K48: a candidate without parts is an empty answer', () => {
    const json = { candidates: [{ content: { role: 'model' }, finishReason: 'MAX_TOKENS' }] };
    const empty = [{ blocks: [], finish: { reason: 'length' } }];
    expect(decodeAnswer(json).candidates).toEqual(empty);
    expect(decodeAnswer({ candidates: [{ finishReason: 'MAX_TOKENS' }] }).candidates).toEqual(
      empty,
    );
    expect(collect(chunks(json))).toEqual(empty);
  });

  it('a refused prompt is no answer at all, either way', () => {
    const json = { promptFeedback: { blockReason: 'SAFETY' }, usageMetadata: {} };
    const blocked: Candidate[] = [{ blocks: [], finish: { reason: 'blocked' } }];
    expect(decodeAnswer(json).candidates).toEqual(blocked);
    expect(collect(chunks(json))).toEqual(blocked);
    const response = { candidates: blocked, extensions: [] };
    const written = generateContentCodec.encodeResponse(response, null, answerContext());
    expect(written).toMatchObject({ promptFeedback: { blockReason: 'OTHER' } });
    expect(written).not.toHaveProperty('candidates');
    expect(collect(encodeStream([{ type: 'finish', finish: { reason: 'blocked' } }]))).toEqual(
      blocked,
    );
  });

  it('finds the words that a source stands for', () => {
    const text = 'Ünï 🙂. Paris is nice. Paris is old.';
    const groundingMetadata = {
      groundingChunks: [{ web: { uri: 'https://a.example', title: 'A' } }, { web: {} }],
      groundingSupports: [
        {
          segment: { startIndex: 12, endIndex: 26, text: 'Paris is nice.' },
          groundingChunkIndices: [0, 1, 7],
        },
        { segment: { startIndex: 2, endIndex: 4, text: 'elsewhere' }, groundingChunkIndices: [0] },
      ],
    };
    const source = { url: 'https://a.example', title: 'A' };
    const citations = [
      { ...source, start: 8, end: 22 },
      { ...source, start: null, end: null },
    ];
    const json = candidate([{ text }], { groundingMetadata });
    expect(decodeAnswer(json).candidates[0]?.blocks).toEqual([{ type: 'text', text, citations }]);
    const pieces = [
      chunk([{ text: text.slice(0, 9) }]),
      candidate([{ text: text.slice(9) }], { groundingMetadata }),
    ];
    expect(collect(chunks(...pieces))[0]?.blocks).toEqual([{ type: 'text', text, citations }]);
  });

  it('what an upstream garbled is carried along, not thrown on', () => {
    const json = candidate([{ inlineData: { mimeType: 'image/png', data: '&' } }, { text: 'x' }]);
    expect(decodeAnswer(json).candidates[0]?.blocks).toMatchObject([
      { type: 'opaque', name: 'inlineData', ifForeign: 'drop' },
      { type: 'text', text: 'x' },
    ]);
  });
});

describe('streams of the upstream', () => {
  it('K21: a part with both words or a call and a signature is both', () => {
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

  it('no signature is lost when several parts of a kind have one', () => {
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
  ])('K12: parallel calls over %s are numbered', (_, answers) => {
    const starts = decodeStream(chunks(...answers)).filter(({ type }) => type === 'call-start');
    expect(starts).toMatchObject([
      { call: 0, id: 'x', name: 'f' },
      { call: 1, id: null, name: 'f' },
      { call: 2, id: null, name: 'g' },
    ]);
  });

  it('arguments that come value by value are put together', () => {
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

  it('a reason in every chunk ends the answer once', () => {
    const text = chunks(chunk([{ text: 'a' }], 'STOP'), chunk([{ text: 'b' }], 'STOP'));
    expect(decodeStream(text).map(({ type }) => type)).toEqual(['text', 'text', 'finish']);
  });

  it('candidates are told apart, and images are blocks', () => {
    const image = { inlineData: { mimeType: 'image/png', data: 'AA==' } };
    const second = { content: { parts: [image] }, finishReason: 'STOP', index: 1 };
    const text = chunks({ ...chunk([{ text: 'a' }]) }, { candidates: [second] }, chunk([], 'STOP'));
    expect(collect(text)).toMatchObject([
      { blocks: [{ type: 'text', text: 'a' }], finish: { reason: 'end' } },
      { blocks: [{ type: 'image', source: { base64: 'AA==' } }], finish: { reason: 'end' } },
    ]);
  });
});

/** Written from the protocol's description, not from the encoder. */
function complaints(stream: string): string[] {
  const found: string[] = [];
  if (stream !== '' && !stream.endsWith('\n\n')) found.push('the last frame is cut');
  const ended = new Set<number>();
  for (const frame of stream.split('\n\n').slice(0, -1)) {
    if (!/^data: [^\n]*$/.test(frame)) found.push(`no data frame: ${frame}`);
    const json = JSON.parse(frame.slice(6)) as Record<string, unknown>;
    if (typeof json['modelVersion'] !== 'string') found.push('no model');
    if (typeof json['responseId'] !== 'string') found.push('no id');
    if (json['candidates'] === undefined && !isRecord(json['promptFeedback']))
      found.push('nothing');
    for (const candidate of (json['candidates'] ?? []) as Record<string, unknown>[]) {
      found.push(...candidateComplaints(candidate, ended));
    }
  }
  return found;
}

function candidateComplaints(candidate: Record<string, unknown>, ended: Set<number>): string[] {
  const found: string[] = [];
  const { index, finishReason } = candidate;
  const content = candidate['content'] as { role?: unknown; parts?: unknown[] } | undefined;
  if (typeof index !== 'number') return ['no index'];
  if (ended.has(index)) found.push('goes on after its end');
  if (finishReason !== undefined) ended.add(index);
  if (content?.role !== 'model') found.push('no role');
  if (!Array.isArray(content?.parts) || content.parts.length === 0) found.push('no parts');
  for (const part of (content?.parts ?? []) as Record<string, unknown>[]) {
    const data = ['text', 'functionCall', 'inlineData', 'fileData'].filter((name) => name in part);
    if (data.length !== 1) found.push(`a part with ${data.length} data`);
    if (
      part['text'] === '' &&
      part['thoughtSignature'] === undefined &&
      finishReason === undefined
    ) {
      found.push('an empty part');
    }
    const call = part['functionCall'] as { name?: unknown; args?: unknown } | undefined;
    if (call !== undefined && (typeof call.name !== 'string' || !isRecord(call.args))) {
      found.push('a call without name or arguments');
    }
  }
  return found;
}

describe('streams for a client', () => {
  it('are legal whatever order the events come in', () => {
    fc.assert(
      fc.property(fc.array(answerEvents), (events) => {
        expect(complaints(encodeStream(events))).toEqual([]);
      }),
    );
  });

  it('end every candidate, once', () => {
    fc.assert(
      fc.property(fc.array(answerEvents), (events) => {
        const last = encodeStream(events).split('\n\n').at(-2) ?? '';
        const json = JSON.parse(last.slice(6)) as { candidates?: { finishReason?: string }[] };
        expect(json.candidates?.every(({ finishReason }) => finishReason !== undefined)).not.toBe(
          false,
        );
      }),
    );
  });

  it('say what was said', () => {
    fc.assert(
      fc.property(nativeAnswer, (response) => {
        const json = generateContentCodec.encodeResponse(response, null, answerContext());
        const events = decodeStream(chunks(json));
        expect(collect(encodeStream(events))).toEqual(response.candidates);
      }),
    );
  });

  it('one chunk per text; calls when they are whole; signatures on the same part', () => {
    const events: GenerationEvent[] = [
      { type: 'reasoning', text: 'hm' },
      { type: 'state', state: { ...state, kind: 'envelope', data: 'gw1.a.b' } },
      { type: 'text', text: 'a' },
      { type: 'refusal', text: 'no' },
      { type: 'call-start', call: 0, id: 'x', name: 'f', kind: 'function' },
      { type: 'call-start', call: 1, id: 'y', name: 'g', kind: 'function', state },
      { type: 'call-arguments', call: 0, text: '{"a"' },
      { type: 'call-arguments', call: 1, text: '' },
      { type: 'call-arguments', call: 0, text: ':1}' },
      { type: 'call-end', call: 1 },
      { type: 'finish', finish: { reason: 'tool' } },
    ];
    const frames = encodeStream(events).trim().split('\n\n');
    const read = (frame: string) =>
      JSON.parse(frame.slice(6)) as { candidates: [{ content: { parts: [unknown] } }] };
    expect(frames.map((frame) => read(frame).candidates[0].content.parts[0])).toEqual([
      { text: 'hm', thought: true },
      { text: '', thought: true, thoughtSignature: 'gw1.a.b' },
      { text: 'a' },
      { text: 'no' },
      { functionCall: { id: 'y', name: 'g', args: {} }, thoughtSignature: 'c2ln' },
      { functionCall: { id: 'x', name: 'f', args: { a: 1 } } },
      { text: '' },
    ]);
  });

  it('a broken answer ends with the error and nothing after it', () => {
    const encoder = generateContentCodec.createStreamEncoder(answerContext());
    encoder.push({ type: 'text', text: 'a' });
    expect(encoder.fail(new GatewayError('invalid_value', { values: { reason: 'no' } }))).toMatch(
      /^data: \{"error":\{"code":400,.*\}\n\n$/,
    );
    expect(encoder.push({ type: 'text', text: 'b' }) + encoder.end(null)).toBe('');
  });

  it('thoughts stay away from a client that does not want them, their signature does not', () => {
    const reasoning = { mode: 'on', effort: null, budget: 5, show: false } as const;
    const events: GenerationEvent[] = [
      { type: 'reasoning', text: 'hm' },
      { type: 'state', state },
    ];
    const stream = encodeStream(events, answerContext({ reasoning }));
    expect(stream).not.toContain('hm');
    expect(stream).toContain('"thoughtSignature":"c2ln"');
  });
});
