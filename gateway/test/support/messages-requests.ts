import fc from 'fast-check';
import { createSigner } from '../../../simulator/src/scenario/signature.ts';
import { signaturePurpose } from '../../../simulator/src/messages/validate-thinking.ts';

/** Requests of agents in the Messages protocol: well-formed ones, and ones with every fault the repairs know. */

export const signer = createSigner('test');

export const models = [
  'claude-3-5-haiku-20241022',
  'claude-sonnet-4-5',
  'claude-opus-4-6',
  'claude-opus-4-8',
  'claude-opus-5-5',
  'claude-sonnet-5-5',
  'demo-chat',
];

type Json = Readonly<Record<string, unknown>>;

export const thought = (text: string): Json => ({
  type: 'thinking',
  thinking: text,
  signature: signer.mint(signaturePurpose, 'n', text),
});

const words = fc.constantFrom('Look at this.', 'ein Wörtchen', '数 ✓', 'a "quote"\n', 'ok');
const tools = ['read', 'write', 'run'];
/** What no upstream takes as a name, two of them nearly the same. */
const badNames = ['file.read', 'file read', ''];
const tool = (name: string): Json => ({
  name,
  description: `To ${name}.`,
  input_schema: { type: 'object', properties: { path: { type: 'string' } } },
});
const text = (value: string): Json => ({ type: 'text', text: value });
const png = { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' };

interface Step {
  readonly said: string;
  readonly calls: readonly string[];
  readonly thinks: boolean;
  readonly next: string | null;
}

const step: fc.Arbitrary<Step> = fc.record({
  said: words,
  calls: fc.array(fc.constantFrom(...tools), { maxLength: 3 }),
  thinks: fc.boolean(),
  next: fc.option(words),
});

/** What no upstream finds fault with; the model is one that takes everything in it. */
export const wellFormed: fc.Arbitrary<Json> = fc
  .record({
    steps: fc.array(step, { maxLength: 5 }),
    isPlain: fc.boolean(),
    system: fc.option(words),
    stream: fc.boolean(),
    cached: fc.boolean(),
  })
  .map(({ steps, isPlain, system, stream, cached }) => {
    const messages: Json[] = [{ role: 'user', content: isPlain ? 'Go.' : [text('Go.')] }];
    for (const [index, { said, calls, thinks, next }] of steps.entries()) {
      const ids = calls.map((_, at) => `toolu_${index}_${at}`);
      messages.push({
        role: 'assistant',
        content: [
          ...(thinks ? [thought(said)] : []),
          text(said),
          ...calls.map((name, at) => ({
            type: 'tool_use',
            id: ids[at],
            name,
            input: { path: `/${at}`, lines: [1, 2.5, null] },
          })),
        ],
      });
      const results = ids.map((id, at) => ({
        type: 'tool_result',
        tool_use_id: id,
        content: at % 2 === 0 ? 'fine' : [text('fine'), { type: 'image', source: png }],
      }));
      const marker = cached && index === steps.length - 1 ? { cache_control: ephemeral } : {};
      messages.push({
        role: 'user',
        content: [...results, { ...text(next ?? 'Go on.'), ...marker }],
      });
    }
    return {
      model: 'claude-opus-4-6',
      max_tokens: 4000,
      ...(system !== null && { system: [{ ...text(system), cache_control: ephemeral }] }),
      messages,
      tools: tools.map(tool),
      stream,
      thinking: { type: 'adaptive' },
      metadata: { user_id: 'u-1' },
    };
  });

const ephemeral = { type: 'ephemeral' };

const marker = fc.option(
  fc.constantFrom<Json>(
    ephemeral,
    { type: 'ephemeral', ttl: '1h' },
    { type: 'ephemeral', ttl: '5m' },
  ),
  { freq: 3, nil: undefined },
);
const marked = (block: fc.Arbitrary<Json>): fc.Arbitrary<Json> =>
  fc
    .tuple(block, marker)
    .map(([value, cache]) => (cache === undefined ? value : { ...value, cache_control: cache }));

const ids = fc.constantFrom('a', 'b', 'c', 'x.y', 'x_y');
const anyText = fc.oneof(
  { weight: 6, arbitrary: words },
  { weight: 1, arbitrary: fc.constantFrom('', ' ', '\n\t', 'cut \ud83d', 'ends in space ') },
);
const textBlock = fc
  .tuple(anyText, fc.boolean())
  .map(([value, isCiting]) =>
    isCiting ? { ...text(value), citations: [{ type: 'char_location' }] } : text(value),
  );
const imageBlock = fc
  .constantFrom(
    png,
    { ...png, media_type: 'image/jpeg' },
    { ...png, media_type: 'image/jpg', data: '/9j/4AAQ' },
    { ...png, data: 'data:image/png;base64,iVBORw0KGgo=' },
    { ...png, data: 'iVBORw0K\nGgo=\n' },
  )
  .map((source) => ({ type: 'image', source }));
const document = fc.boolean().map((enabled) => ({
  type: 'document',
  source: { type: 'text', media_type: 'text/plain', data: 'a' },
  citations: { enabled },
}));
const resultContent = fc.oneof(
  words,
  fc.constantFrom<unknown>(7, { a: 1 }, ['x'], true, null, ''),
  fc.array(fc.oneof(marked(textBlock), imageBlock), { maxLength: 2 }),
);
const resultBlock = fc
  .record({ tool_use_id: ids, content: resultContent, is_error: fc.boolean() })
  .map((members) => ({ type: 'tool_result', ...members }));
const callBlock = fc
  .record({
    id: ids,
    name: fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom(...tools) },
      { weight: 1, arbitrary: fc.constantFrom(...badNames) },
    ),
    input: fc.constantFrom<unknown>(
      {},
      { path: 'a' },
      { cut: ['\udc00'] },
      '{"n":1}',
      '[1]',
      'no',
      null,
      5,
    ),
  })
  .map((members) => ({ type: 'tool_use', ...members }));
const thoughtBlock = words.map(thought);
const badThought = fc.constantFrom<Json>(
  { type: 'thinking', thinking: 'x', signature: '' },
  { type: 'thinking', thinking: 'x' },
  { type: 'thinking', signature: 'x' },
  { type: 'redacted_thinking' },
);

const content = (block: fc.Arbitrary<Json>): fc.Arbitrary<unknown> =>
  fc.oneof(
    { weight: 1, arbitrary: anyText },
    { weight: 4, arbitrary: fc.array(block, { maxLength: 4 }) },
  );

const userMessage = content(
  fc.oneof(marked(textBlock), marked(resultBlock), resultBlock, imageBlock, document),
).map((value) => ({ role: 'user', content: value }));

const assistantMessage = (isClaude: boolean) =>
  content(
    fc.oneof(
      marked(textBlock),
      callBlock,
      callBlock,
      document,
      thoughtBlock,
      isClaude ? badThought : thoughtBlock,
    ),
  ).map((value) => ({ role: 'assistant', content: value }));

const instruction = fc
  .record({ role: fc.constantFrom('system', 'developer'), content: content(textBlock) })
  .map((message) => message as Json);

const anyTool = fc.oneof(
  fc.constantFrom(...tools).map(tool),
  fc.constantFrom(...badNames).map(tool),
  marked(fc.constantFrom(...tools).map((name) => ({ ...tool(name), defer_loading: true }))),
  fc.constantFrom<Json>(
    { name: 'empty', input_schema: {} },
    { name: 'none' },
    { name: 'text', input_schema: { type: 'string' } },
    {
      name: 'union',
      input_schema: { anyOf: [{ properties: { a: {} } }, { properties: { b: {} } }] },
    },
    {
      name: 'both',
      description: 'x',
      input_schema: { type: 'object', allOf: [{ properties: {} }] },
    },
    { type: 'web_search_20250305', name: 'web_search' },
  ),
);

const thinkingMember = fc.oneof(
  fc.record({
    type: fc.constant('enabled'),
    budget_tokens: fc.constantFrom<unknown>(10, 1024, 2000, 99_999, '2048'),
  }),
  fc.constantFrom<Json>({ type: 'adaptive' }, { type: 'disabled' }),
);

/** Every part of it right or wrong by chance, and mostly something wrong. */
export const faulty: fc.Arbitrary<Json> = fc.constantFrom(...models).chain((model) => {
  const isClaude = model.includes('claude');
  const message = fc.oneof(
    { weight: 5, arbitrary: userMessage },
    { weight: 5, arbitrary: assistantMessage(isClaude) },
    { weight: isClaude ? 1 : 0, arbitrary: instruction },
  );
  return fc.record(
    {
      model: fc.constant(model),
      max_tokens: fc.constantFrom<unknown>(500, 1024, 4000, 190_000, '3000', null),
      messages: fc.array(message as fc.Arbitrary<Json>, { minLength: 1, maxLength: 7 }),
      system: fc.oneof(words, fc.array(marked(textBlock), { maxLength: 3 })),
      tools: fc.array(anyTool, { maxLength: 4 }),
      tool_choice: fc.constantFrom<Json>(
        { type: 'auto' },
        { type: 'any', disable_parallel_tool_use: true },
        { type: 'tool', name: 'read' },
        { type: 'tool', name: 'file.read' },
        { type: 'none' },
      ),
      thinking: thinkingMember,
      output_config: fc.record(
        {
          effort: fc.constantFrom('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'),
          format: fc.constant({
            type: 'json_schema',
            schema: { type: 'object', additionalProperties: false },
          }),
          task_budget: fc.constant({ type: 'tokens', total: 50_000 }),
        },
        { requiredKeys: [] },
      ),
      temperature: fc.constantFrom(0, 1),
      top_p: fc.constantFrom<unknown>(0.5, 0.95, 0.99, '0.99'),
      top_k: fc.constantFrom<unknown>(5, '5'),
      stream: fc.constantFrom<unknown>(true, false, 'true', 'false', 0, 1, null),
      stop_sequences: fc.array(fc.constantFrom('END', '', ' \n'), { maxLength: 3 }),
      cache_control: fc.constantFrom<Json>(ephemeral, { type: 'ephemeral', ttl: '1h' }),
      metadata: fc.record(
        {
          user_id: fc.constantFrom<unknown>('u-1', 'me@example.com', 5, null),
          team: fc.constant('x'),
        },
        { requiredKeys: [] },
      ),
      context_management: fc.constant({ edits: [] }),
      mcp_servers: fc.constant([{ type: 'url', name: 's', url: 'https://example.com' }]),
      output_format: fc.constant({
        type: 'json_schema',
        schema: { type: 'object', additionalProperties: false },
      }),
    },
    { requiredKeys: ['model', 'messages'] },
  ) as fc.Arbitrary<Json>;
});
