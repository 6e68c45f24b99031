import fc from 'fast-check';
import type {
  Block,
  Finish,
  GenerationEvent,
  NativeState,
  ToolCallBlock,
} from '#canonical/index.ts';

const text = fc.oneof(
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 }),
  fc.constantFrom('\n\n', 'data: [DONE]', '\ud83d', '"}'),
);
const words = fc.stringMatching(/^[a-z ,.]{1,10}$/);
const name = fc.stringMatching(/^[a-z]{1,6}$/);
const choice = fc.constantFrom({}, {}, {}, { choice: 1 }, { choice: 2 });
const number = fc.nat(4);

const state: fc.Arbitrary<NativeState> = fc
  .nat(99)
  .map((id) => ({ protocol: 'messages', kind: 'envelope', data: `gw2.${id}` }));

const citation = fc.record({
  url: fc.constant('https://example.com/'),
  title: fc.option(name),
  start: fc.constantFrom(0, 2),
  end: fc.constantFrom(3, 4),
});

const finish: fc.Arbitrary<Finish> = fc.record({
  reason: fc.constantFrom(
    'end',
    'stop-sequence',
    'length',
    'context-full',
    'tool',
    'filtered',
    'refused',
    'pause',
    'blocked',
    'other',
  ),
});

const image: Block = { type: 'image', source: { kind: 'data', mime: 'image/png', base64: 'AAAA' } };
const trace: Block = {
  type: 'opaque',
  protocol: 'messages',
  name: 'server_tool_use',
  value: {},
  ifForeign: 'drop',
};

/** Any event in any order: upstreams and passes may be inconsistent. */
export const anyEvent: fc.Arbitrary<GenerationEvent> = fc
  .tuple(
    choice,
    fc.oneof<fc.Arbitrary<GenerationEvent>[]>(
      text.map((each) => ({ type: 'text', text: each })),
      text.map((each) => ({ type: 'reasoning', text: each })),
      text.map((each) => ({ type: 'refusal', text: each })),
      fc.constant({ type: 'text', text: '' }),
      state.map((each) => ({ type: 'state', state: each })),
      fc.constant({ type: 'block-end' }),
      fc
        .tuple(
          number,
          fc.option(name),
          name,
          fc.constantFrom('function' as const, 'custom' as const),
          fc.option(state, { nil: undefined }),
        )
        .map(([call, id, toolName, kind, held]) => ({
          type: 'call-start',
          call,
          id,
          name: toolName,
          kind,
          state: held,
        })),
      fc
        .tuple(number, fc.constantFrom('', '{}', '{"a":1}'))
        .map(([call, each]) => ({ type: 'call-arguments', call, text: each })),
      number.map((call) => ({ type: 'call-end', call })),
      fc.constantFrom<GenerationEvent>(
        { type: 'block', block: image },
        { type: 'block', block: trace },
        { type: 'block', block: { ...trace, text: 'found it' } as Block },
      ),
      citation.map((each) => ({ type: 'citation', citation: each })),
      finish.map((each) => ({ type: 'finish', finish: each })),
    ),
  )
  .map(([which, event]) => ({ ...event, ...which }));

const call = fc.record({
  name,
  kind: fc.constantFrom('function' as const, 'custom' as const),
  argument: fc.constantFrom('{"a":1}', 'x'),
  state: fc.option(state, { nil: undefined }),
});

function calls(
  list: readonly {
    name: string;
    kind: 'function' | 'custom';
    argument: string;
    state?: NativeState | undefined;
  }[],
): ToolCallBlock[] {
  return list.map(({ argument, state: held, ...rest }, index) => ({
    type: 'tool-call',
    id: `call_${index}`,
    ...rest,
    arguments: argument,
    ...(held === undefined ? {} : { state: held }),
  }));
}

/** Responses that chat can carry without loss: reasoning, one text, a refusal, calls. */
export const chatResponse: fc.Arbitrary<Block[]> = fc
  .record({
    reasoning: fc.array(fc.record({ text: fc.oneof(words, fc.constant('')), state }), {
      maxLength: 2,
    }),
    last: fc.option(words),
    text: fc.option(fc.record({ text, state: fc.option(state, { nil: undefined }) })),
    refusal: fc.option(text),
    calls: fc.array(call, { maxLength: 3 }),
  })
  .map(({ reasoning, last, text: spoken, refusal, calls: made }) => {
    const blocks: Block[] = reasoning.map((each) => ({ type: 'reasoning', ...each }));
    if (last !== null) blocks.push({ type: 'reasoning', text: last });
    if (spoken !== null) {
      blocks.push({
        type: 'text',
        text: spoken.text,
        ...(spoken.state === undefined ? {} : { state: spoken.state }),
      });
    }
    if (refusal !== null) blocks.push({ type: 'refusal', text: refusal });
    return [...blocks, ...calls(made)];
  });

/** Responses with blocks in any order, as other protocols have them. */
export const anyResponse: fc.Arbitrary<Block[]> = fc
  .array(
    fc.oneof<fc.Arbitrary<Block>[]>(
      { weight: 3, arbitrary: text.map((each): Block => ({ type: 'text', text: each })) } as never,
      fc
        .tuple(text, citation)
        .map(([each, cited]) => ({ type: 'text', text: each, citations: [cited] })),
      fc
        .tuple(text, fc.option(state, { nil: undefined }))
        .map(([each, held]) => ({ type: 'reasoning', text: each, ...(held && { state: held }) })),
      state.map((held) => ({ type: 'reasoning', text: '', state: held })),
      text.map((each) => ({ type: 'refusal', text: each })),
      call.map((each) => calls([each])[0]!),
      fc.constantFrom<Block>(image, trace, { ...trace, text: 'found it' } as Block),
    ),
    { maxLength: 6 },
  )
  .map((blocks) =>
    blocks.map((block, index) =>
      block.type === 'tool-call' ? { ...block, id: `call_${index}` } : block,
    ),
  );

/** The same response as a stream. `cut` decides where texts are cut. */
export function eventsOf(
  blocks: readonly Block[],
  cut: (text: string) => number,
): GenerationEvent[] {
  const events: GenerationEvent[] = [];
  let number = 0;
  const pieces = (each: string): string[] => {
    const at = cut(each);
    return [each.slice(0, at), each.slice(at)].filter((piece) => piece !== '');
  };
  for (const block of blocks) {
    switch (block.type) {
      case 'text':
      case 'refusal':
      case 'reasoning':
        for (const piece of pieces(block.text)) events.push({ type: block.type, text: piece });
        if (block.type === 'text')
          for (const each of block.citations ?? [])
            events.push({ type: 'citation', citation: each });
        if (block.state !== undefined) events.push({ type: 'state', state: block.state });
        events.push({ type: 'block-end' });
        break;
      case 'tool-call': {
        const { id, name: toolName, kind, state: held } = block;
        const start = { type: 'call-start', call: number, id, name: toolName, kind } as const;
        events.push(held === undefined ? start : { ...start, state: held });
        for (const piece of pieces(block.arguments))
          events.push({ type: 'call-arguments', call: number, text: piece });
        events.push({ type: 'call-end', call: number });
        // Other protocols number calls by their place among all blocks.
        number += 2;
        break;
      }
      default:
        events.push({ type: 'block', block });
    }
  }
  return events;
}
