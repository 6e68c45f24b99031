import { describe, expect, it } from 'vitest';
import type { Candidate } from '#canonical/index.ts';
import type { EncodeTarget } from '#protocols/codec.ts';
import { messagesCodec } from '#protocols/messages/index.ts';
import { collectEvents } from '../support/collect-events.ts';
import { responseContext, target } from '../support/messages-samples.ts';
import { decodeFrames, decodeWire, encodeEvents } from '../support/messages-wire.ts';
import { absence, type Recording, recordings } from './recordings.ts';

type Json = Readonly<Record<string, unknown>>;

const own = recordings.filter(({ protocol }) => protocol === 'messages');
const isJson = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const listAt = (value: Json, key: string): unknown[] => {
  const list = value[key];
  return Array.isArray(list) ? list : [];
};

const textAt = (value: Json, key: string): string => {
  const text = value[key];
  return typeof text === 'string' ? text : '';
};

/** Some recorders keep the model in the URL. */
function withModel(request: Json): Json {
  return { model: 'claude-sonnet-4-0', ...request };
}

/** Requests that the upstream took. */
const requests = own.flatMap(({ id, request, status }) =>
  request === null || status !== 200 ? [] : [{ id, request: withModel(request) }],
);
const responses = own.flatMap(({ id, body }) =>
  isJson(body) && Array.isArray(body['content']) ? [{ id, body }] : [],
);
const streams = own.filter(
  (recording): recording is Recording & { sse: string } => typeof recording.sse === 'string',
);

function targetOf(request: Json): EncodeTarget {
  return { ...target, model: String(request['model']) };
}

/** One way of writing where the protocol has several that mean the same. */
function plain(request: Json): unknown {
  const {
    temperature: _,
    anthropic_version: __,
    max_tokens: ___,
    stream,
    tools,
    ...rest
  } = request;
  return {
    ...rest,
    ...(stream === true && { stream }),
    ...(request['system'] !== undefined && { system: blocksOf(request['system']) }),
    messages: merged(listAt(request, 'messages').filter(isJson)),
    ...(Array.isArray(tools) &&
      tools.length > 0 && {
        tools: tools.map((tool: unknown) => {
          if (!isJson(tool) || tool['type'] !== 'custom') return tool;
          const { type: ____, ...others } = tool;
          return others;
        }),
      }),
    ...(isJson(request['tool_choice']) && {
      tool_choice: Object.fromEntries(
        Object.entries(request['tool_choice']).filter(([, value]) => value !== false),
      ),
    }),
  };
}

function merged(messages: readonly Json[]): { role: unknown; content: unknown[] }[] {
  const result: { role: unknown; content: unknown[] }[] = [];
  for (const { role: speaker, content } of messages) {
    // A word of the system in the middle is said by the user.
    const role = speaker === 'system' ? 'user' : speaker;
    const blocks = blocksOf(content);
    const last = result.at(-1);
    if (last !== undefined && last.role === role) last.content.push(...blocks);
    else result.push({ role, content: blocks });
  }
  return result;
}

function blocksOf(content: unknown): unknown[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return (content as Json[]).map((block) => {
    if (block['type'] !== 'tool_result') return block;
    const { is_error: isError, ...rest } = block;
    const inner = rest['content'] === undefined ? {} : { content: blocksOf(rest['content']) };
    return { ...rest, ...inner, ...(isError === true && { is_error: true }) };
  });
}

/** Native citations and the blocks around them go only where their maker is; a text needs neither to be whole. */
function withoutCitations(candidates: readonly Candidate[]): unknown {
  return candidates.map(({ blocks, finish }) => ({
    finish,
    blocks: blocks.map((block) => {
      if (block.type !== 'text') return block;
      const { citations: _, citesOwn: __, ...rest } = block;
      return rest;
    }),
  }));
}

describe.skipIf(absence !== null)(`the messages codec on recorded traffic ${absence ?? ''}`, () => {
  it('exists', () => {
    expect([requests.length, responses.length, streams.length].every((count) => count > 40)).toBe(
      true,
    );
  });

  it.each(requests)(
    '$id: the request means the same after decoding and encoding',
    ({ request }) => {
      const { json } = messagesCodec.encodeRequest(decodeWire(request), targetOf(request));
      expect(plain(json)).toEqual(plain(request));
    },
  );

  it('K23: thinking and its signature come back character for character', () => {
    const thoughts = (value: unknown): string[] =>
      (
        JSON.stringify(value).match(/"(thinking|signature|data)":"([^"\\]|\\.)*"/g) ?? []
      ).toSorted();
    let seen = 0;
    for (const { request } of requests) {
      const { json } = messagesCodec.encodeRequest(decodeWire(request), targetOf(request));
      expect(thoughts(json['messages'])).toEqual(thoughts(request['messages']));
      seen += thoughts(request['messages']).length;
    }
    expect(seen).toBeGreaterThan(8);
  });

  it.each(responses)('$id: the response comes back from its own encoder', ({ body }) => {
    const response = messagesCodec.decodeResponse(body);
    const again = messagesCodec.encodeResponse(response, null, responseContext);
    expect(withoutCitations(messagesCodec.decodeResponse(again).candidates)).toEqual(
      withoutCitations(response.candidates),
    );
    const texts = listAt(body, 'content')
      .filter(isJson)
      .map(({ text }) => text);
    const said = response.candidates[0]?.blocks.map((block) =>
      block.type === 'text' ? block.text : '',
    );
    expect(said?.join('')).toBe(texts.join(''));
  });

  it.each(streams)('$id: the stream comes back from its own encoder', ({ sse }) => {
    const events = decodeFrames(sse);
    const collected = collectEvents(events);
    expect(withoutCitations(collectEvents(decodeFrames(encodeEvents(events))))).toEqual(
      withoutCitations(collected),
    );
    // Recorders that put several messages into one body: the first one is the response.
    const [first = ''] = sse.split(/(?<=event: message_stop\r?\ndata:[^\n]*\n)/);
    const deltas = [...first.matchAll(/^data: ?(.*)$/gm)].map(
      ([, data]) => JSON.parse(String(data)) as Json,
    );
    const written = (member: string): string =>
      deltas.map(({ delta }) => (isJson(delta) ? textAt(delta, member) : '')).join('');
    const joined = (type: 'text' | 'reasoning') =>
      events.map((event) => (event.type === type ? event.text : '')).join('');
    expect(joined('text')).toBe(written('text'));
    expect(joined('reasoning')).toBe(written('thinking'));
  });

  it.each(responses)('$id: a streamed copy of the response reads the same', ({ body }) => {
    const text = [
      { type: 'message_start', message: { ...body, content: [], stop_reason: null } },
      ...listAt(body, 'content').flatMap((block, index) => [
        { type: 'content_block_start', index, content_block: block },
        { type: 'content_block_stop', index },
      ]),
      {
        type: 'message_delta',
        delta: { stop_reason: body['stop_reason'], stop_sequence: body['stop_sequence'] },
      },
      { type: 'message_stop' },
    ]
      .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
      .join('');
    expect(collectEvents(decodeFrames(text))).toEqual(
      messagesCodec.decodeResponse(body).candidates,
    );
  });
});
