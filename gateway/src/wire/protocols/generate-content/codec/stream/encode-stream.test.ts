import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { collectEvents } from '#test/support/collect-events.ts';
import {
  responseContext,
  chunks,
  decodeStream,
  encodeStream,
} from '#test/support/generate-content-codec.ts';
import { responseEvents, nativeResponse } from '#test/support/generate-content-responses.ts';
import type { GenerationEvent } from '#canonical/index.ts';
import { GatewayError } from '#errors/index.ts';
import { isRecord } from '../../../shared/values.ts';
import { generateContentCodec } from '../../index.ts';

const collect = (text: string) => collectEvents(decodeStream(text));
const state = { protocol: 'generate-content', kind: 'thought-signature', data: 'c2ln' } as const;

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
  if (ended.has(index)) found.push('continues after its end');
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
  it('are legal in whatever order events come', () => {
    fc.assert(
      fc.property(fc.array(responseEvents), (events) => {
        expect(complaints(encodeStream(events))).toEqual([]);
      }),
    );
  });

  it('end every candidate once', () => {
    fc.assert(
      fc.property(fc.array(responseEvents), (events) => {
        const last = encodeStream(events).split('\n\n').at(-2) ?? '';
        const json = JSON.parse(last.slice(6)) as { candidates?: { finishReason?: string }[] };
        expect(json.candidates?.every(({ finishReason }) => finishReason !== undefined)).not.toBe(
          false,
        );
      }),
    );
  });

  it('have the content of the events', () => {
    fc.assert(
      fc.property(nativeResponse, (response) => {
        const json = generateContentCodec.encodeResponse(response, null, responseContext());
        const events = decodeStream(chunks(json));
        expect(collect(encodeStream(events))).toEqual(response.candidates);
      }),
    );
  });

  it('have a chunk per text, complete calls, and signatures on the same part', () => {
    const events: GenerationEvent[] = [
      { type: 'reasoning', text: 'hm' },
      { type: 'state', state: { ...state, kind: 'envelope', data: 'gw2.a.b' } },
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
      { text: '', thought: true, thoughtSignature: 'gw2.a.b' },
      { text: 'a' },
      { text: 'no' },
      { functionCall: { id: 'y', name: 'g', args: {} }, thoughtSignature: 'c2ln' },
      { functionCall: { id: 'x', name: 'f', args: { a: 1 } } },
      { text: '' },
    ]);
  });

  it('end with the error if they break', () => {
    const encoder = generateContentCodec.createStreamEncoder(responseContext());
    encoder.push({ type: 'text', text: 'a' });
    expect(encoder.fail(new GatewayError('invalid_value', { values: { reason: 'no' } }))).toMatch(
      /^data: \{"error":\{"code":400,.*\}\n\n$/,
    );
    expect(encoder.push({ type: 'text', text: 'b' }) + encoder.end(null)).toBe('');
  });

  it('hide reasoning from a client that does not want it, but not its signature', () => {
    const reasoning = { mode: 'on', effort: null, budget: 5, show: false } as const;
    const events: GenerationEvent[] = [
      { type: 'reasoning', text: 'hm' },
      { type: 'state', state },
    ];
    const stream = encodeStream(events, responseContext({ reasoning }));
    expect(stream).not.toContain('hm');
    expect(stream).toContain('"thoughtSignature":"c2ln"');
  });
});
