import { describe, expect, it } from 'vitest';
import type { Candidate, GenerationRequest } from '#canonical/index.ts';
import { absence, recordings } from '#test/recordings/recordings.ts';
import { checkResponsesStream } from '#test/support/responses-grammar.ts';
import {
  decodeBody,
  decodeEvents,
  decodeStream,
  encodeBody,
  encodeEvents,
} from '#test/support/responses-codec.ts';
import { responseContext } from '#test/support/responses-samples.ts';
import { isRecord, type JsonRecord } from '../../shared/values.ts';
import { responsesCodec as codec } from '../index.ts';

const own = recordings.filter(({ protocol }) => protocol === 'responses');
const requests = own.filter(
  ({ request, status }) => request?.['input'] !== undefined && status < 400,
);
const responses = own.filter(({ body, status }) => isRecord(body) && status === 200);
const streams = own.flatMap(({ sse, ...rest }) =>
  typeof sse === 'string' ? [{ sse, ...rest }] : [],
);

/** A request in one normal form: items may omit their types, and a text may be written as parts. */
function meaning(json: JsonRecord): unknown {
  const { input, instructions, include: _, store: __, tools, model: ___, ...rest } = json;
  const items =
    typeof input === 'string' ? [{ role: 'user', content: input }] : (input as unknown[]);
  const { added, said } = itemsOf(items as JsonRecord[]);
  const leading = instructions == null ? [] : [{ role: 'developer', said: text(instructions) }];
  return {
    ...rest,
    tools: [...((tools ?? []) as JsonRecord[]), ...added].map(toolMeaning),
    input: merge([...leading, ...said]),
  };
}

function itemsOf(items: readonly JsonRecord[]): { added: JsonRecord[]; said: JsonRecord[] } {
  const added = items.flatMap(({ type, tools }) =>
    type === 'additional_tools' ? (tools as JsonRecord[]) : [],
  );
  const said = items
    .filter(({ type }) => type !== 'additional_tools')
    .map(({ id, ...item }): JsonRecord => {
      for (const extra of ['status', 'caller']) Reflect.deleteProperty(item, extra);
      if (item['type'] === 'reasoning') {
        const { encrypted_content: data, content, ...rest } = item;
        const kept = Array.isArray(content) && content.length > 0 && rest['summary'];
        return { ...rest, id, data: data ?? null, content: kept ? content : [] };
      }
      if (item['type'] !== undefined && item['type'] !== 'message') {
        return itemsThatPass.has(item['type']) ? item : { type: item['type'], id };
      }
      const { type: _type, role, content, ...more } = item;
      return { role: role === 'system' ? 'developer' : role, said: text(content), ...more };
    });
  return { added, said };
}

const itemsThatPass = new Set<unknown>(['function_call', 'function_call_output']);

function text(content: unknown): unknown[] {
  if (typeof content === 'string') return [content];
  return (content as JsonRecord[]).map((part) =>
    part['prompt_cache_breakpoint'] === undefined && typeof part['text'] === 'string'
      ? part['text']
      : part,
  );
}

/** Joins adjacent messages of one speaker. */
function merge(items: readonly JsonRecord[]): unknown[] {
  const merged: JsonRecord[] = [];
  for (const item of items) {
    const last = merged.at(-1);
    if (JSON.stringify(item['said']) === '[""]') continue;
    if (item['role'] !== undefined && last?.['role'] === item['role']) {
      (last['said'] as unknown[]).push(...(item['said'] as unknown[]));
    } else merged.push({ ...item });
  }
  return merged;
}

function toolMeaning(tool: JsonRecord): JsonRecord {
  if (tool['type'] === 'function') {
    return { ...tool, description: tool['description'] ?? null, strict: tool['strict'] ?? false };
  }
  if (tool['type'] === 'custom') {
    // A custom tool takes free text by default. The canonical tool has no place for who may call it.
    const { allowed_callers: _, format, ...rest } = tool;
    return { ...rest, format: isRecord(format) && format['type'] === 'grammar' ? format : null };
  }
  if (tool['type'] !== 'namespace') return tool;
  return { ...tool, tools: (tool['tools'] as JsonRecord[]).map(toolMeaning) };
}

/** What a client of another protocol could see. Omits what exists only here, such as the id of an item. */
function shown(candidates: readonly Candidate[]): unknown {
  return candidates.map(({ blocks, finish }) => ({
    finish,
    blocks: blocks.map((block) => {
      if (block.type === 'reasoning') {
        const { state, text: thought } = block;
        return { type: 'reasoning', text: thought, data: state?.data };
      }
      if (block.type === 'tool-call' && block.kind === 'function') {
        return { ...block, arguments: block.arguments || '{}' };
      }
      if (block.type !== 'text') return block;
      const { citesOwn: _, ...text } = block;
      if (block.citations === undefined) return text;
      const citations = block.citations.map(({ url, title, start, end }) => ({
        url,
        title: title ?? '',
        start: start ?? 0,
        end: end ?? 0,
      }));
      return { ...text, citations };
    }),
  }));
}

describe.skipIf(absence !== null)(`responses: recorded traffic ${absence ?? ''}`, () => {
  it('is here', () => {
    expect(requests.length).toBeGreaterThan(50);
    expect(responses.length).toBeGreaterThan(40);
    expect(streams.length).toBeGreaterThan(40);
  });

  it.each(requests)(
    '$id: the request means the same after decoding and encoding',
    ({ request }) => {
      const json = request as JsonRecord;
      const decoded: GenerationRequest = decodeBody(json);
      const encoded = encodeBody(decoded);
      expect(encoded.losses).toEqual([]);
      const written = { stream: false, ...json };
      expect(meaning(encoded.json)).toEqual(meaning(written));
      // Encoding once more gives the same bytes.
      expect(encodeBody(decodeBody({ ...encoded.json })).json).toEqual(encoded.json);
    },
  );

  it.each(responses)('$id: decoding and encoding keeps the response', ({ body }) => {
    const json = body as JsonRecord;
    const decoded = codec.decodeResponse(json);
    const encoded = codec.encodeResponse(decoded, null, responseContext);
    expect(encoded['status']).toBe(json['status'] ?? 'completed');
    const again = codec.decodeResponse(JSON.parse(JSON.stringify(encoded)) as JsonRecord);
    expect(shown(again.candidates)).toEqual(shown(decoded.candidates));
  });

  it.each(streams)('$id: decoding and encoding keeps the stream', ({ sse, notes }) => {
    const events = decodeEvents(sse);
    if (/error event inside the stream/.test(notes)) {
      expect(events.some(({ type }) => type === 'finish')).toBe(false);
      return;
    }
    const written = encodeEvents(events);
    checkWhereEverythingIsOurs(written);
    expect(shown(decodeStream(written))).toEqual(shown(decodeStream(sse)));
  });

  it.each(streams)('$id: the streamed parts equal the last event', ({ sse, notes }) => {
    if (/error event inside the stream|may have shortened it/.test(notes)) return;
    const terminal = /^data: (.*"type": ?"response\.(completed|incomplete)".*)$/m.exec(sse)?.[1];
    const { response } = JSON.parse(terminal ?? '') as { response: JsonRecord };
    if ((response['output'] as unknown[]).length === 0) return;
    const { candidates } = codec.decodeResponse(response);
    expect(comparable(decodeStream(sse))).toEqual(comparable(candidates));
  });
});

/** Items of hosted tools are repeated as received, with their own ids and statuses. */
function checkWhereEverythingIsOurs(text: string): void {
  expect(checkResponsesStream(text).at(-1)?.['type']).toMatch(/completed|incomplete/);
}

/**
 * Traces of tools finish in their own order, state is encrypted anew for the last event, and streamed log
 * probabilities have fewer details.
 */
function comparable(candidates: readonly Candidate[]): unknown {
  return candidates.map(({ blocks, finish }) => ({
    finish,
    blocks: blocks
      .filter(({ type }) => type !== 'opaque')
      .map((block) => {
        if (block.type === 'reasoning') return { ...block, state: block.state?.id };
        if (block.type !== 'text') return block;
        const { logprobs: _, ...rest } = block;
        return rest;
      }),
  }));
}
