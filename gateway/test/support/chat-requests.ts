import fc from 'fast-check';
import type {
  Block,
  GenerationRequest,
  OutputFormat,
  ReasoningRequest,
  TextBlock,
  Tool,
  ToolCallBlock,
  ToolChoice,
  Turn,
} from '#canonical/index.ts';

/** Canonical requests that chat can carry without loss: to OpenAI, with reasoning in history allowed. */

const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.constantFrom('', ' ', '\n\n', 'data: [DONE]', '"}', '日本', '🙂'),
);
const someText = text.filter((each) => each !== '');
const name = fc.stringMatching(/^[a-zA-Z0-9_-]{1,12}$/);
const base64 = fc
  .uint8Array({ minLength: 1, maxLength: 9 })
  .map((bytes) => Buffer.from(bytes).toString('base64'));
const cacheKey = fc.option(name);
const flag = fc.option(fc.boolean());
const amount = fc.option(fc.constantFrom(0, 0.5, 1));

const textBlock: fc.Arbitrary<TextBlock> = text.map((each) => ({ type: 'text', text: each }));

const image: fc.Arbitrary<Block> = fc.record(
  {
    type: fc.constant('image' as const),
    source: fc.oneof(
      fc.record({
        kind: fc.constant('data' as const),
        mime: fc.constantFrom('image/png', 'image/jpeg'),
        base64,
      }),
      fc.constant({ kind: 'url' as const, url: 'https://example.com/a.png?b=,c', mime: null }),
    ),
    detail: fc.constantFrom('auto', 'low', 'high'),
  },
  { requiredKeys: ['type', 'source'] },
);

const file: fc.Arbitrary<Block> = fc.oneof(
  fc.record({
    type: fc.constant('file' as const),
    source: fc.record({
      kind: fc.constant('data' as const),
      mime: fc.constant('application/pdf'),
      base64,
    }),
    filename: fc.constant('a.pdf'),
  }),
  fc.constant<Block>({
    type: 'file',
    source: { kind: 'file-id', protocol: 'chat', id: 'file-1' },
  }),
);

const audio: fc.Arbitrary<Block> = fc.record({
  type: fc.constant('audio' as const),
  source: fc.record({
    kind: fc.constant('data' as const),
    mime: fc.constantFrom('audio/wav', 'audio/mpeg'),
    base64,
  }),
});

const unknownPart = fc.constant<Block>({
  type: 'opaque',
  protocol: 'chat',
  name: 'input_smell',
  value: { type: 'input_smell', smell: [1] },
  ifForeign: 'drop',
});

const userTurn: fc.Arbitrary<Turn> = fc.record(
  {
    role: fc.constant('user' as const),
    blocks: fc.array(
      fc.oneof({ weight: 3, arbitrary: textBlock }, image, file, audio, unknownPart),
      {
        minLength: 1,
        maxLength: 3,
      },
    ),
    name,
  },
  { requiredKeys: ['role', 'blocks'] },
);

const laterSystem: fc.Arbitrary<Turn> = fc.record({
  role: fc.constant('system' as const),
  blocks: fc.array(textBlock, { minLength: 1, maxLength: 2 }),
});

const call = fc.record({
  name,
  kind: fc.constantFrom('function' as const, 'custom' as const),
  argument: someText,
  state: fc.boolean(),
  result: fc.array(textBlock, { maxLength: 2 }),
});

/** An assistant turn, and the results of its calls if it has any. */
const exchange: fc.Arbitrary<Turn[]> = fc
  .record({
    reasoning: fc.option(someText),
    spoken: fc.array(someText, { maxLength: 2 }),
    refusal: fc.option(someText),
    calls: fc.array(call, { maxLength: 3 }),
    seed: fc.nat(0xffff),
  })
  .map(({ reasoning, spoken, refusal, calls, seed }) => {
    const blocks: Block[] = [];
    if (reasoning !== null) blocks.push({ type: 'reasoning', text: reasoning });
    for (const each of spoken) blocks.push({ type: 'text', text: each });
    if (refusal !== null) blocks.push({ type: 'refusal', text: refusal });
    const ids = calls.map((_, index) => `call_${seed}_${index}`);
    calls.forEach((each, index) => blocks.push(callBlock(each, ids[index] ?? '')));
    if (blocks.length === 0) blocks.push({ type: 'text', text: '' });
    // A message with reasoning alone has an empty text.
    if (blocks.every(({ type }) => type === 'reasoning')) blocks.push({ type: 'text', text: '' });
    const turns: Turn[] = [{ role: 'assistant', blocks }];
    if (calls.length > 0)
      turns.push({
        role: 'user',
        blocks: calls.map((each, index) => result(each.result, ids[index] ?? '')),
      });
    return turns;
  });

function callBlock(
  {
    name,
    kind,
    argument,
    state,
  }: { name: string; kind: 'function' | 'custom'; argument: string; state: boolean },
  id: string,
): ToolCallBlock {
  const block: ToolCallBlock = { type: 'tool-call', id, name, kind, arguments: argument };
  return state && kind === 'function'
    ? { ...block, state: { protocol: 'chat', kind: 'thought-signature', data: `s${id}` } }
    : block;
}

function result(content: readonly TextBlock[], id: string): Block {
  // One empty text and no content at all are the same string.
  const blocks = content.length === 0 ? [{ type: 'text', text: '' } as const] : content;
  return { type: 'tool-result', id, name: null, content: blocks, isError: false };
}

/** A closed schema, so that a tool can be strict. */
const schema = fc
  .dictionary(name, fc.constantFrom({ type: 'string' }, { type: 'number', minimum: 1 }), {
    maxKeys: 2,
  })
  .map((properties) => ({
    type: 'object',
    properties,
    required: Object.keys(properties),
    additionalProperties: false,
  }));

const tool: fc.Arbitrary<Tool> = fc.oneof(
  fc.record({
    type: fc.constant('function' as const),
    name,
    description: fc.option(text),
    schema,
    strict: flag,
  }),
  fc.record({
    type: fc.constant('custom' as const),
    name,
    description: fc.option(text),
    grammar: fc.option(fc.constant({ syntax: 'lark', definition: 'start: "a"' })),
  }),
);

const tools = fc
  .uniqueArray(tool, { selector: (each) => each.name, maxLength: 4 })
  .chain((list) =>
    fc.tuple(fc.constant(list), list.length === 0 ? fc.constant(null) : choiceOf(list), flag),
  )
  .map(([list, toolChoice, parallel]) => ({
    tools: list,
    toolChoice,
    parallelTools: list.length === 0 ? null : parallel,
  }));

function choiceOf(list: readonly Tool[]): fc.Arbitrary<ToolChoice | null> {
  const names = list.map((each) => each.name);
  return fc.option(
    fc.oneof(
      fc.record({
        mode: fc.constantFrom('auto' as const, 'none' as const, 'required' as const),
        only: fc.constant(null),
      }),
      fc.record({
        mode: fc.constantFrom('auto' as const, 'required' as const),
        only: fc.subarray(names, { minLength: 1 }),
      }),
    ),
  );
}

const format: fc.Arbitrary<OutputFormat | null> = fc.option(
  fc.oneof(
    fc.constantFrom<OutputFormat>({ type: 'text' }, { type: 'json' }),
    fc.record({
      type: fc.constant('schema' as const),
      name,
      description: fc.option(text),
      schema,
      strict: flag,
    }),
  ),
);

const reasoning: fc.Arbitrary<ReasoningRequest | null> = fc.option(
  fc.oneof(
    fc.constant<ReasoningRequest>({ mode: 'off', effort: 'none', budget: null, show: null }),
    fc.record({
      mode: fc.constant('on' as const),
      effort: fc.constantFrom('low', 'medium', 'high', 'xhigh'),
      budget: fc.constant(null),
      show: fc.constant(true),
    }),
  ),
);

/** Those that responses has too come first, as the encoder writes them. */
const extensions = fc.subarray([
  { protocol: 'chat', name: 'metadata', value: { a: 'b' }, ifForeign: 'ignore' },
  { protocol: 'chat', name: 'store', value: true, ifForeign: 'drop' },
  { protocol: 'chat', name: 'logit_bias', value: { 50256: -100 }, ifForeign: 'drop' },
] as const);

const conversation = fc
  .array(
    fc.oneof(
      userTurn.map((turn) => [turn]),
      exchange,
      laterSystem.map((turn) => [turn]),
    ),
    { maxLength: 5 },
  )
  // A leading system message belongs to the conversation.
  .map((runs): Turn[] => [
    { role: 'user', blocks: [{ type: 'text', text: 'Hi' }] },
    ...runs.flat(),
  ]);

export const chatRequest: fc.Arbitrary<GenerationRequest> = fc
  .tuple(
    tools,
    fc.record({
      model: fc.constant('gpt-5.2'),
      stream: fc.boolean(),
      system: fc.array(textBlock, { maxLength: 3 }),
      turns: conversation,
      maxOutputTokens: fc.option(fc.integer({ min: 1, max: 9000 })),
      temperature: amount,
      topP: amount,
      presencePenalty: amount,
      frequencyPenalty: amount,
      seed: fc.option(fc.nat()),
      stop: fc.array(someText, { maxLength: 4 }),
      choices: fc.integer({ min: 1, max: 3 }),
      format,
      verbosity: fc.option(fc.constantFrom('low', 'high')),
      reasoning,
      logprobs: fc.option(fc.nat(20)),
      cacheKey,
      endUser: cacheKey,
      extensions,
    }),
  )
  .map(([withTools, rest]) => ({ ...rest, ...withTools, topK: null, wantsUsage: rest.stream }));
