import { openBudget } from '#json/index.ts';
import { describe, expect, it } from 'vitest';
import type { Block, Candidate, GenerationEvent } from '#canonical/index.ts';
import type { ResponseContext, EncodeTarget } from '#protocols/codec.ts';
import { chat, chatCodec } from '#protocols/chat/index.ts';
import { readChatStream } from '../support/chat-grammar.ts';
import { collectEvents } from '../support/collect-events.ts';
import { absence, type Recording, recordings } from './recordings.ts';
import { readEvents } from './tap-run.ts';
import { traitsOf } from '../support/upstream-traits.ts';

const own = recordings.filter(({ protocol }) => protocol === 'chat');
const streams = own.filter(
  (recording): recording is Recording & { sse: string } =>
    recording.status === 200 && typeof recording.sse === 'string',
);
const responses = own.filter(
  (recording): recording is Recording & { body: Record<string, unknown> } =>
    recording.status === 200 &&
    Array.isArray((recording.body as Record<string, unknown> | null)?.['choices']),
);
const requests = own.filter(
  (recording): recording is Recording & { request: Record<string, unknown> } =>
    Array.isArray(recording.request?.['messages']) &&
    typeof recording.request['model'] === 'string',
);

const path = { operation: 'generate', model: null, stream: null } as const;

function decodeRequest(json: object) {
  const opened = chat.openRequest(Buffer.from(JSON.stringify(json)), path);
  return chatCodec.decodeRequest(chat.readRequest(opened));
}

const context: ResponseContext = {
  requestId: 'req_abcdefghijklmnopqrstuvwx',
  model: 'mine',
  createdAt: 1,
  request: decodeRequest({ model: 'mine', messages: [], stream: true, logprobs: true }),
  inputTokens: 0,
};

function decodeStream(sse: string): GenerationEvent[] {
  const decoder = chatCodec.createStreamDecoder();
  const events: GenerationEvent[] = [];
  for (const event of readEvents([Buffer.from(sse)])) {
    decoder.push(event, (each) => events.push(each));
  }
  decoder.end((each) => events.push(each));
  return events;
}

function encodeStream(events: readonly GenerationEvent[]): string {
  const encoder = chatCodec.createStreamEncoder(context);
  return events.map((event) => encoder.push(event)).join('') + encoder.end(null);
}

/**
 * What is left of a response on this protocol: one text, one reasoning text, calls that all have arguments. Space
 * between texts is not compared: several are paragraphs of one.
 */
function flat({ blocks, finish }: Candidate) {
  const of = (type: 'text' | 'reasoning' | 'refusal') =>
    blocks
      .map((block) => (block.type === type ? block.text : ''))
      .join('')
      .replace(/\s+/g, '');
  return {
    text: of('text'),
    reasoning: of('reasoning'),
    refusal: of('refusal'),
    calls: blocks.filter((block) => block.type === 'tool-call').map(withArguments),
    // A router's own details are for its eyes only, and in which member a text came is known of the upstream's alone.
    states: blocks.flatMap(({ state }) =>
      state === undefined || state.kind === 'encrypted' || state.kind === 'reasoning-content'
        ? []
        : state,
    ),
    citations: blocks.flatMap((block) => (block.type === 'text' ? (block.citations ?? []) : [])),
    // The protocol has no word for a reason that says nothing.
    finish: finish.reason === 'other' ? 'end' : finish.reason,
  };
}

function withArguments(block: Block) {
  return block.type === 'tool-call' && block.arguments === ''
    ? { ...block, arguments: '{}' }
    : block;
}

/** What the upstream itself put into its chunks or its message, counted without the codec. */
function written(messages: readonly unknown[], member: 'delta' | 'message', key: string): string {
  return messages
    .flatMap(
      (body) =>
        (body as { choices?: Record<string, Record<string, unknown> | undefined>[] }).choices ?? [],
    )
    .filter((choice) => ((choice['index'] as unknown) ?? 0) === 0)
    .map((choice) => textIn(choice[member]?.[key]))
    .join('');
}

function textIn(value: unknown): string {
  if (typeof value === 'string') return value;
  const parts = Array.isArray(value) ? (value as { text?: unknown }[]) : [];
  return parts.map(({ text }) => (typeof text === 'string' ? text : '')).join('');
}

function chunksOf(sse: string): unknown[] {
  return readEvents([Buffer.from(sse)]).flatMap(({ data }) => {
    const text = data?.toString('utf8') ?? '';
    return text.startsWith('{') ? [JSON.parse(text) as unknown] : [];
  });
}

describe.skipIf(absence !== null)(`recorded chat streams ${absence ?? ''}`, () => {
  it('exist', () => {
    expect([streams.length > 50, responses.length > 60, requests.length > 100]).toEqual([
      true,
      true,
      true,
    ]);
  });

  it.each(streams)('$id is read completely', ({ sse }) => {
    const events = decodeStream(sse);
    const [first] = collectEvents(events);
    expect(
      events.filter(({ type, choice }) => type === 'finish' && choice === undefined),
    ).toHaveLength(1);
    const chunks = chunksOf(sse);
    const texts = (first?.blocks ?? []).map((block) => (block.type === 'text' ? block.text : ''));
    const content = written(chunks, 'delta', 'content');
    if (content !== '') expect(texts.join('')).toBe(content);
    const thoughts = (first?.blocks ?? []).map((block) =>
      block.type === 'reasoning' ? block.text : '',
    );
    const reasoning =
      written(chunks, 'delta', 'reasoning_content') || written(chunks, 'delta', 'reasoning');
    if (reasoning !== '') expect(thoughts.join('')).toBe(reasoning);
  });

  it.each(streams)('$id passes through the model and is the same response', ({ sse }) => {
    const before = collectEvents(decodeStream(sse));
    const again = encodeStream(decodeStream(sse));
    readChatStream(again, false);
    expect(collectEvents(decodeStream(again)).map(flat)).toEqual(before.map(flat));
  });
});

describe.skipIf(absence !== null)(`recorded chat responses ${absence ?? ''}`, () => {
  it.each(responses)('$id passes through the model and is the same response', ({ body }) => {
    const response = chatCodec.decodeResponse(body);
    const again = chatCodec.encodeResponse(response, null, context);
    expect(chatCodec.decodeResponse(again).candidates.map(flat)).toEqual(
      response.candidates.map(flat),
    );
    const text = (response.candidates[0]?.blocks ?? []).map((block) =>
      block.type === 'text' ? block.text : '',
    );
    const content = written([body], 'message', 'content');
    if (content !== '') expect(text.join('')).toBe(content);
  });
});

describe.skipIf(absence !== null)(`recorded chat requests ${absence ?? ''}`, () => {
  const target: EncodeTarget = {
    model: 'gpt-5.2',
    traits: traitsOf('openai', 'gpt-5.2'),
    maxOutputTokens: null,
    capabilities: new Set(),
    echoReasoning: 'allow',
    budget: openBudget(1_048_576),
  };

  it.each(requests)('$id means the same after the model', ({ request }) => {
    const before = decodeRequest(request);
    const { json, losses } = chatCodec.encodeRequest(before, target);
    const after = decodeRequest(json);
    // Markers of caches are the only thing of a chat client that does not come back.
    expect(losses.filter(({ what }) => what !== 'cache' && what !== 'reasoning.budget')).toEqual(
      [],
    );
    const comparable = (each: typeof before) => ({
      ...each,
      model: null,
      wantsUsage: null,
      // Routers' own switches come out as the effort that is closest, or leave it to the model.
      reasoning: before.reasoning?.effort == null ? null : each.reasoning,
      format:
        each.format?.type === 'schema' ? { name: 'response', ...said(each.format) } : each.format,
      ...withoutCaches({ system: each.system, turns: each.turns, tools: each.tools }),
    });
    expect(comparable(after)).toEqual(comparable(before));
  });

  const said = (format: object) =>
    Object.fromEntries(Object.entries(format).filter(([, value]) => value !== null));

  function withoutCaches<Value>(value: Value): Value {
    return JSON.parse(
      JSON.stringify(value, (key, item: unknown) => (key === 'cache' ? undefined : item)),
    ) as Value;
  }
});
