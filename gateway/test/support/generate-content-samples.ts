import fc from 'fast-check';
import type {
  Block,
  FunctionTool,
  GenerationRequest,
  NativeState,
  ReasoningBlock,
  TextBlock,
  ToolCallBlock,
  ToolResultBlock,
  Turn,
} from '#canonical/index.ts';
import { request } from './generate-content-codec.ts';

const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 });
// JSON has no negative zero.
const most = Number.MAX_SAFE_INTEGER;
const number = fc.double({ noNaN: true, min: -most, max: most }).map((value) => value + 0);
const orNull = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null });
const base64 = fc
  .uint8Array({ maxLength: 9 })
  .map((bytes) => Buffer.from(bytes).toString('base64'));
const name = fc.stringMatching(/^[a-z_][a-z0-9_]{0,8}$/);

const state: fc.Arbitrary<NativeState> = fc
  .stringMatching(/^[A-Za-z0-9+/]{4,12}$/)
  .map((data) => ({ protocol: 'generate-content', kind: 'thought-signature', data }));
const signed = fc.oneof(
  fc.constant({}),
  state.map((state) => ({ state })),
);

const data = (kind: string) =>
  fc.record({ kind: fc.constant('data' as const), mime: fc.constant(kind), base64 });
const media: fc.Arbitrary<Block> = fc.oneof(
  data('image/png').map((source) => ({ type: 'image' as const, source })),
  data('audio/wav').map((source) => ({ type: 'audio' as const, source })),
  data('video/mp4').map((source) => ({ type: 'video' as const, source })),
  data('application/pdf').map((source) => ({ type: 'file' as const, source })),
);
const textBlock: fc.Arbitrary<TextBlock> = text.map((words) => ({ type: 'text', text: words }));
const said: fc.Arbitrary<Block> = fc.oneof(textBlock, media);

/** Written and read once: JSON reads a `-0` that it never writes. */
const json = fc
  .jsonValue({ maxDepth: 2 })
  .map((value) => JSON.parse(JSON.stringify(value)) as unknown);
const object = fc.dictionary(fc.string({ minLength: 1 }), json, { maxKeys: 3 });

interface Round {
  readonly calls: readonly ToolCallBlock[];
  readonly results: readonly ToolResultBlock[];
}

/** Parallel calls, the first one signed, and their results. */
const round: fc.Arbitrary<Round> = fc
  .tuple(
    fc.array(
      fc.tuple(
        name,
        object,
        fc.oneof(object, text),
        fc.boolean(),
        fc.array(data('image/png'), { maxLength: 1 }),
      ),
      { minLength: 1, maxLength: 3 },
    ),
    state,
    fc.nat(1e6),
  )
  .map(([pairs, state, seed]) => ({
    calls: pairs.map(([name, args], index) => ({
      type: 'tool-call',
      id: `call_${seed}_${index}`,
      name,
      kind: 'function',
      arguments: JSON.stringify(args),
      ...(index === 0 ? { state } : {}),
    })),
    results: pairs.map(([name, , said, isError, images], index) => ({
      type: 'tool-result',
      id: `call_${seed}_${index}`,
      name,
      ...resultOf(
        said,
        isError,
        images.map((source) => ({ type: 'image', source })),
      ),
    })),
  }));

function resultOf(
  said: Readonly<Record<string, unknown>> | string,
  isError: boolean,
  images: readonly Block[],
): Pick<ToolResultBlock, 'object' | 'content' | 'isError'> {
  const whole = typeof said === 'string';
  const object = whole ? { [isError ? 'error' : 'output']: said } : { ...said, more: 1, again: 2 };
  const words = whole ? said : JSON.stringify(object);
  return {
    object,
    content: [{ type: 'text', text: words }, ...images],
    isError: whole && isError,
  };
}

const reasoning: fc.Arbitrary<ReasoningBlock> = fc
  .tuple(text, signed)
  .map(([words, extra]) => ({ type: 'reasoning', text: words, ...extra }));
const spoken: fc.Arbitrary<TextBlock> = fc
  .tuple(text, signed)
  .map(([words, extra]) => ({ type: 'text', text: words, ...extra }));

/** What a user says, what the model thinks and says, and any calls with their results. */
const exchange: fc.Arbitrary<readonly Turn[]> = fc
  .tuple(
    fc.array(said, { minLength: 1, maxLength: 3 }),
    fc.array(reasoning, { maxLength: 1 }),
    fc.array(spoken, { maxLength: 2 }),
    orNull(round),
    textBlock,
  )
  .map(([asked, thoughts, words, calls, last]) => [
    { role: 'user', blocks: asked },
    { role: 'assistant', blocks: [...thoughts, ...words, ...(calls?.calls ?? [last])] },
    ...(calls === null
      ? []
      : ([
          { role: 'user', blocks: calls.results },
          { role: 'assistant', blocks: [last] },
        ] satisfies Turn[])),
  ]);

const schema = fc.constantFrom<FunctionTool['schema']>(
  null,
  { type: 'object', properties: { a: { type: 'string', enum: ['x'] } }, required: ['a'] },
  {
    type: 'object',
    properties: {
      b: { type: ['integer', 'null'], minimum: 1 },
      c: { anyOf: [{ type: 'string' }, { type: 'boolean' }] },
    },
  },
);
const functionTool: fc.Arbitrary<FunctionTool> = fc
  .tuple(name, orNull(text), schema)
  .map(([name, description, schema]) => ({
    type: 'function',
    name,
    description,
    schema,
    strict: null,
  }));

/** Requests that the protocol can say without any loss, as it would itself. */
export const nativeRequest: fc.Arbitrary<GenerationRequest> = fc
  .record({
    system: fc.array(textBlock, { maxLength: 2 }),
    turns: fc.array(exchange, { minLength: 1, maxLength: 3 }).map((exchanges) => exchanges.flat()),
    tools: fc.uniqueArray(functionTool, { selector: (tool) => tool.name, maxLength: 2 }),
    mode: fc.constantFrom('auto', 'none', 'required' as const),
    isOneOf: fc.boolean(),
    maxOutputTokens: orNull(fc.nat(1e5)),
    temperature: orNull(number),
    topP: orNull(number),
    topK: orNull(fc.nat(64)),
    presencePenalty: orNull(number),
    frequencyPenalty: orNull(number),
    seed: orNull(fc.nat()),
    stop: fc.array(text, { maxLength: 5 }),
    choices: fc.integer({ min: 1, max: 8 }),
    logprobs: orNull(fc.nat(20)),
    format: fc.constantFrom<GenerationRequest['format']>(
      null,
      { type: 'json' },
      {
        type: 'schema',
        name: null,
        description: null,
        schema: { type: 'object', properties: { z: { type: 'number' }, a: { type: 'string' } } },
        strict: null,
      },
    ),
    effort: orNull(fc.constantFrom('minimal', 'low', 'medium', 'high' as const)),
    safety: orNull(fc.array(object, { minLength: 1 })),
    voice: orNull(fc.dictionary(fc.string({ minLength: 1 }), json, { minKeys: 1, maxKeys: 3 })),
  })
  .map(({ mode, isOneOf, effort, safety, voice, tools, ...given }) => {
    const only = isOneOf && mode !== 'none' ? tools.map((tool) => tool.name) : null;
    const own = { protocol: 'generate-content', ifForeign: 'drop' } as const;
    return request({
      ...given,
      tools,
      toolChoice: tools.length > 0 ? { mode, only } : null,
      reasoning: effort === null ? null : { mode: 'on', effort, budget: null, show: true },
      extensions: [
        ...(safety === null ? [] : [{ ...own, name: 'safetySettings', value: safety }]),
        ...(voice === null
          ? []
          : [{ ...own, name: 'generationConfig.speechConfig', value: voice }]),
      ],
    });
  });
