import fc from 'fast-check';
import {
  type Block,
  type Finish,
  type GenerationEvent,
  type GenerationRequest,
  noExtensions,
  type TextBlock,
  type Tool,
  type Turn,
} from '#canonical/index.ts';
import type { ResponseContext } from '#protocols/codec.ts';
import { requestOf, user as userSays } from './canonical.ts';

/** Canonical values that the Responses form can say without loss. */

export const bareRequest = requestOf({
  model: 'm',
  stream: true,
  turns: [userSays('Hi')],
  wantsUsage: true,
  extensions: noExtensions,
});

export const responseContext: ResponseContext = {
  requestId: 'req_abcdefghijklmnopqrstuvwx',
  model: 'my-model',
  createdAt: 1_790_000_000,
  request: bareRequest,
  inputTokens: 3,
};

const said = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 });
const name = fc.stringMatching(/^[a-zA-Z0-9_-]{1,12}$/);
const base64 = fc
  .uint8Array({ minLength: 1, maxLength: 9 })
  .map((bytes) => Buffer.from(bytes).toString('base64'));
const optional = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined });

/** Without the members that are undefined, as decoders write it. */
function compact<Value extends object>(value: fc.Arbitrary<Value>): fc.Arbitrary<Value> {
  return value.map(
    (whole) =>
      Object.fromEntries(
        Object.entries(whole).filter(([, member]) => member !== undefined),
      ) as Value,
  );
}

const cache = fc.constantFrom({ ttl: null }, { ttl: '30m' }, { ttl: '12h' });
const citation = fc.record({
  url: fc.webUrl(),
  title: fc.string(),
  start: fc.nat(99),
  end: fc.nat(99),
});
const token = { token: said, logprob: fc.constant(-0.5), bytes: fc.constant([1, 2]) };
const logprob = fc.record({ ...token, top: fc.array(fc.record(token), { maxLength: 2 }) });

const media = fc.oneof(
  fc.record({
    kind: fc.constant('data' as const),
    mime: fc.constantFrom('image/png', 'application/pdf'),
    base64,
  }),
  fc.record({ kind: fc.constant('url' as const), url: fc.webUrl(), mime: fc.constant(null) }),
  fc.record({
    kind: fc.constant('file-id' as const),
    protocol: fc.constant('responses' as const),
    id: name,
  }),
);

const inputText = compact(
  fc.record({ type: fc.constant('text' as const), text: said, cache: optional(cache) }),
);
const image = compact(
  fc.record({
    type: fc.constant('image' as const),
    source: media,
    detail: optional(fc.constantFrom('low', 'high')),
    cache: optional(cache),
  }),
);
const file = compact(
  fc.record({
    type: fc.constant('file' as const),
    source: media,
    filename: name,
    cache: optional(cache),
  }),
);
const shown: fc.Arbitrary<Block> = fc.oneof(inputText, image, file);

const state = compact(
  fc.record({
    protocol: fc.constant('responses' as const),
    kind: fc.constant('encrypted' as const),
    data: said,
    id: optional(name),
  }),
);

const reasoning = compact(
  fc.record({
    type: fc.constant('reasoning' as const),
    text: fc.oneof(fc.constant(''), said),
    summary: fc.constant<boolean | undefined>(true),
    state,
  }),
).map((block): Block => {
  if (block.text !== '') return block;
  const { summary: _, ...rest } = block;
  return rest;
});

const call = compact(
  fc.record({
    type: fc.constant('tool-call' as const),
    id: name,
    name,
    namespace: optional(name),
    kind: fc.constantFrom('function' as const, 'custom' as const),
    arguments: said,
  }),
);

const result: fc.Arbitrary<Block> = fc.record({
  type: fc.constant('tool-result' as const),
  id: name,
  name: fc.constant(null),
  kind: fc.constantFrom('function' as const, 'custom' as const),
  content: fc.array(shown, { maxLength: 3 }),
  isError: fc.constant(false),
});

const responseText: fc.Arbitrary<Block> = compact(
  fc.record({
    type: fc.constant('text' as const),
    text: said,
    citations: optional(fc.array(citation, { minLength: 1, maxLength: 2 })),
  }),
);
const refusal: fc.Arbitrary<Block> = fc.record({
  type: fc.constant('refusal' as const),
  text: said,
});
const item: fc.Arbitrary<Block> = fc.record({
  type: fc.constant('opaque' as const),
  protocol: fc.constant('responses' as const),
  name: fc.constant('web_search_call'),
  value: fc.constant({ type: 'web_search_call', id: 'ws_1', status: 'completed' }),
  ifForeign: fc.constant('drop' as const),
});

const user: fc.Arbitrary<Turn> = fc.record({
  role: fc.constant('user' as const),
  blocks: fc.array(fc.oneof(shown, result), { minLength: 1, maxLength: 4 }),
});
const assistant: fc.Arbitrary<Turn> = fc.record({
  role: fc.constant('assistant' as const),
  blocks: fc.array(fc.oneof(responseText, refusal, reasoning, call, item), {
    minLength: 1,
    maxLength: 5,
  }),
});
const later: fc.Arbitrary<Turn> = fc.record({
  role: fc.constant('system' as const),
  blocks: fc.array(inputText, { minLength: 1, maxLength: 2 }),
});

/** Turns of one speaker after another. */
const turns = fc
  .tuple(user, fc.array(fc.oneof(user, assistant, later), { maxLength: 5 }))
  .map(([first, others]) => {
    const alternating: Turn[] = [first];
    for (const turn of others) if (turn.role !== alternating.at(-1)?.role) alternating.push(turn);
    return alternating;
  });

/** Closed, so that a tool may be held to it. */
const schema = fc.constantFrom(
  { type: 'object', properties: {}, required: [], additionalProperties: false },
  {
    type: 'object',
    properties: { b: { type: 'string' }, a: { type: 'number' } },
    required: ['b', 'a'],
    additionalProperties: false,
  },
);
const functionTool = (namespace: fc.Arbitrary<string | undefined>): fc.Arbitrary<Tool> =>
  compact(
    fc.record({
      type: fc.constant('function' as const),
      name,
      namespace,
      description: fc.option(said, { nil: null }),
      schema,
      strict: fc.boolean(),
    }),
  );
const customTool: fc.Arbitrary<Tool> = fc.record({
  type: fc.constant('custom' as const),
  name,
  description: fc.option(said, { nil: null }),
  grammar: fc.option(fc.record({ syntax: fc.constant('lark'), definition: said }), { nil: null }),
});
const hosted: fc.Arbitrary<Tool> = fc.constant({
  type: 'hosted',
  kind: 'web-search',
  protocol: 'responses',
  name: 'web_search',
  value: { type: 'web_search', search_context_size: 'low' },
} as const);

/** A described namespace keeps its description with its first function. */
const namespaced: fc.Arbitrary<readonly Tool[]> = fc
  .tuple(name, said, functionTool(fc.constant(undefined)), functionTool(fc.constant(undefined)))
  .map(([namespace, description, first, second]) => [
    {
      ...first,
      namespace,
      extensions: [
        {
          protocol: 'responses',
          name: 'namespace.description',
          value: description,
          ifForeign: 'drop',
        },
      ],
    } as Tool,
    { ...second, namespace } as Tool,
  ]);

const tools = fc
  .array(
    fc.oneof(
      functionTool(fc.constant(undefined)).map((tool) => [tool]),
      customTool.map((tool) => [tool]),
      hosted.map((tool) => [tool]),
      namespaced,
    ),
    { maxLength: 4 },
  )
  .map((lists): Tool[] => lists.flat());

const format: fc.Arbitrary<GenerationRequest['format']> = fc.oneof(
  fc.constantFrom({ type: 'text' } as const, { type: 'json' } as const),
  fc.record({
    type: fc.constant('schema' as const),
    name,
    description: fc.option(said),
    schema,
    strict: fc.option(fc.boolean()),
  }),
);

const reasoningRequest: fc.Arbitrary<GenerationRequest['reasoning']> = fc.oneof(
  fc.constant({ mode: 'off', effort: 'none', budget: null, show: null } as const),
  fc.record({
    mode: fc.constant('on' as const),
    effort: fc.constantFrom('minimal', 'low', 'medium', 'high', 'xhigh', 'max'),
    budget: fc.constant(null),
    show: fc.constantFrom(true, null),
  }),
);

const systemText: fc.Arbitrary<TextBlock> = inputText;

/** `store` and `include` are what every converted request carries. */
export const request: fc.Arbitrary<GenerationRequest> = fc
  .record({
    model: name,
    stream: fc.boolean(),
    system: fc.array(systemText, { maxLength: 3 }),
    turns,
    tools,
    parallelTools: fc.option(fc.boolean()),
    maxOutputTokens: fc.option(fc.integer({ min: 16, max: 9999 })),
    temperature: fc.option(fc.constantFrom(0, 0.5, 2)),
    topP: fc.option(fc.constantFrom(0.1, 1)),
    format: fc.option(format),
    verbosity: fc.option(fc.constantFrom('low', 'high')),
    reasoning: fc.option(reasoningRequest),
    logprobs: fc.option(fc.nat(20)),
    cacheKey: fc.option(name),
    endUser: fc.option(name),
    pick: fc.nat(99),
    mode: fc.constantFrom('auto', 'none', 'required', 'this', 'some', null),
  })
  .map(({ pick, mode, ...members }) => ({
    ...bareRequest,
    ...members,
    toolChoice: choiceAmong(members.tools, pick, mode),
  }));

function choiceAmong(all: readonly Tool[], pick: number, mode: string | null) {
  if (mode === null) return null;
  if (mode === 'auto' || mode === 'none' || mode === 'required')
    return { mode, only: null } as const;
  const tool = all[pick % Math.max(all.length, 1)];
  if (tool === undefined) return null;
  const only = [tool.name];
  return { mode: mode === 'this' ? 'required' : 'auto', only } as const;
}

const outputText: fc.Arbitrary<Block> = compact(
  fc.record({
    type: fc.constant('text' as const),
    text: said,
    citations: optional(fc.array(citation, { minLength: 1, maxLength: 2 })),
    logprobs: optional(fc.array(logprob, { minLength: 1, maxLength: 2 })),
  }),
);
const picture: fc.Arbitrary<Block> = fc.record({
  type: fc.constant('image' as const),
  source: fc.record({
    kind: fc.constant('data' as const),
    mime: fc.constantFrom('image/png', 'image/webp'),
    base64,
  }),
});
const summary: fc.Arbitrary<Block> = compact(
  fc.record({
    type: fc.constant('reasoning' as const),
    text: said,
    summary: fc.constant(true),
    state: optional(state.map(({ data, kind, protocol }) => ({ data, kind, protocol }))),
  }),
);

/** Blocks of a response; every call has an id of its own. */
export const blocks: fc.Arbitrary<Block[]> = fc
  .array(fc.oneof(outputText, refusal, summary, call, picture), { maxLength: 6 })
  .map((list) =>
    list.map((block, index) =>
      block.type === 'tool-call' ? { ...block, id: `call_${index}` } : block,
    ),
  );

/** Why a response with these blocks can have ended, as far as this protocol can say it. */
export function finishOf(list: readonly Block[], wasCut: boolean): Finish {
  if (wasCut) return { reason: 'length' };
  if (list.some(({ type }) => type === 'tool-call')) return { reason: 'tool' };
  return { reason: list.some(({ type }) => type === 'refusal') ? 'refused' : 'end' };
}

const event: fc.Arbitrary<GenerationEvent> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ type: fc.constant('text' as const), text: fc.string() }) },
  fc.record({
    type: fc.constant('text' as const),
    text: said,
    logprobs: fc.array(logprob, { minLength: 1, maxLength: 2 }),
  }),
  fc.record({ type: fc.constant('refusal' as const), text: fc.string() }),
  compact(
    fc.record({
      type: fc.constant('reasoning' as const),
      text: fc.string(),
      summary: optional(fc.constant(true)),
    }),
  ),
  fc.record({ type: fc.constant('state' as const), state }),
  fc.constant({ type: 'block-end' } as const),
  fc.record({ type: fc.constant('citation' as const), citation }),
  fc.record({ type: fc.constant('block' as const), block: fc.oneof(picture, outputText, summary) }),
);

/** A call's own events in order; `marks` are places among all others. */
function callEvents(index: number, pieces: readonly string[], isCustom: boolean, ends: boolean) {
  const list: GenerationEvent[] = [
    {
      type: 'call-start',
      call: index,
      id: `call_${index}`,
      name: `tool_${index}`,
      kind: isCustom ? 'custom' : 'function',
    },
    ...pieces.map((text): GenerationEvent => ({ type: 'call-arguments', call: index, text })),
  ];
  if (ends) list.push({ type: 'call-end', call: index });
  return list;
}

/** Any order of events that keeps each call's own; some calls never end. */
export const events: fc.Arbitrary<GenerationEvent[]> = fc
  .tuple(
    fc.array(event, { maxLength: 14 }),
    fc.array(fc.tuple(fc.array(fc.string(), { maxLength: 4 }), fc.boolean(), fc.boolean()), {
      maxLength: 4,
    }),
    fc.infiniteStream(fc.nat(99)),
  )
  .map(([others, calls, picks]) => {
    const starts = calls.map(([pieces, isCustom, ends], index) =>
      callEvents(index, pieces, isCustom, ends),
    );
    return shuffle([[...others], ...starts], picks);
  });

/** Merges the lists, each in its own order. Calls start in the order of their numbers. */
function shuffle(lists: GenerationEvent[][], picks: Iterator<number>): GenerationEvent[] {
  const merged: GenerationEvent[] = [];
  let started = 0;
  for (;;) {
    const ready = lists.filter(([first]) => {
      if (first === undefined) return false;
      return first.type !== 'call-start' || first.call === started;
    });
    if (ready.length === 0) return merged;
    const next = ready[Number(picks.next().value) % ready.length]?.shift();
    if (next === undefined) return merged;
    if (next.type === 'call-start') started += 1;
    merged.push(next);
  }
}
