import { openBudget } from '#json/index.ts';
import fc from 'fast-check';
import type {
  Block,
  Candidate,
  Finish,
  GenerationEvent,
  GenerationRequest,
  NativeState,
  ReasoningRequest,
  TextBlock,
  Tool,
  Turn,
} from '#canonical/index.ts';
import type { ResponseContext, EncodeTarget } from '#protocols/codec.ts';
import { requestOf } from './canonical.ts';
import { traitsOf } from './upstream-traits.ts';

/** Canonical values that messages can say without loss, and event sequences of every kind. */

export const target: EncodeTarget = {
  model: 'claude-sonnet-4-5',
  traits: traitsOf('anthropic', 'claude-sonnet-4-5'),
  maxOutputTokens: null,
  capabilities: new Set(['sampling', 'reasoning']),
  echoReasoning: null,
  budget: openBudget(1_048_576),
};

export const responseContext: ResponseContext = {
  requestId: 'req_abcdefghijklmnopqrstuvwx',
  model: 'my-model',
  createdAt: 1_790_000_000,
  request: requestOf(),
  inputTokens: 17,
};

const said = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
  .filter((t) => t.trim() !== '');
const name = fc.stringMatching(/^[a-zA-Z0-9_-]{1,12}$/);
const base64 = fc
  .uint8Array({ minLength: 1, maxLength: 9 })
  .map((bytes) => Buffer.from(bytes).toString('base64'));
const schema = fc.constant({ type: 'object', properties: { city: { type: 'string' } } });

/** Arguments as JSON text in the order of their keys, which is how the wire gives them back. */
const input = fc
  .dictionary(fc.stringMatching(/^[a-z]{1,5}$/), fc.oneof(fc.string(), fc.nat(), fc.boolean()), {
    maxKeys: 3,
    noNullPrototype: true,
  })
  .map((value) => JSON.stringify(value));

const text: fc.Arbitrary<TextBlock> = fc.record({ type: fc.constant('text' as const), text: said });

const image: fc.Arbitrary<Block> = fc
  .oneof(
    fc.record({
      kind: fc.constant('data' as const),
      mime: fc.constantFrom('image/png', 'image/jpeg', 'image/gif', 'image/webp'),
      base64,
    }),
    fc.record({ kind: fc.constant('url' as const), url: fc.webUrl(), mime: fc.constant(null) }),
  )
  .map((source) => ({ type: 'image', source }));

const file: fc.Arbitrary<Block> = fc.oneof(
  base64.map((data) => ({
    type: 'file' as const,
    source: { kind: 'data' as const, mime: 'application/pdf', base64: data },
  })),
  fc.tuple(said, said).map(([filename, content]) => ({
    type: 'file' as const,
    source: {
      kind: 'data' as const,
      mime: 'text/plain',
      base64: Buffer.from(content).toString('base64'),
    },
    filename,
  })),
  name.map((id) => ({
    type: 'file' as const,
    source: { kind: 'file-id' as const, protocol: 'messages' as const, id },
  })),
);

const signature = said.map((data): NativeState => ({
  protocol: 'messages',
  kind: 'signature',
  data,
}));
const thinking: fc.Arbitrary<Block> = fc.oneof(
  fc.tuple(fc.string(), signature).map(([words, state]): Block => ({
    type: 'reasoning',
    text: words,
    state,
  })),
  said.map((data): Block => ({
    type: 'reasoning',
    text: '',
    state: { protocol: 'messages', kind: 'redacted', data },
  })),
);

const shown = fc.oneof(text, image, file);

/** One step: what the user says, what the model thinks, says and calls, and the results. */
const step = fc.record({
  asked: fc.array(shown, { minLength: 1, maxLength: 3 }),
  thought: fc.array(thinking, { maxLength: 2 }),
  answered: fc.array(text, { minLength: 1, maxLength: 2 }),
  calls: fc.array(
    fc.record({ name, input, result: fc.array(shown, { maxLength: 2 }), isError: fc.boolean() }),
    {
      maxLength: 3,
    },
  ),
});

const conversation: fc.Arbitrary<Turn[]> = fc
  .tuple(fc.array(step, { maxLength: 3 }), fc.array(shown, { minLength: 1, maxLength: 2 }))
  .map(([steps, last]) => {
    const turns: Turn[] = [];
    let results: Block[] = [];
    for (const [at, { asked, thought, answered, calls }] of steps.entries()) {
      turns.push({ role: 'user', blocks: [...results, ...asked] });
      const made = calls.map((call, index): Block => ({
        type: 'tool-call',
        id: `call_${at}_${index}`,
        name: call.name,
        kind: 'function',
        arguments: call.input,
      }));
      turns.push({ role: 'assistant', blocks: [...thought, ...answered, ...made] });
      results = calls.map((call, index): Block => ({
        type: 'tool-result',
        id: `call_${at}_${index}`,
        name: null,
        content: call.result,
        isError: call.isError,
      }));
    }
    turns.push({ role: 'user', blocks: [...results, ...last] });
    return turns;
  });

const tools: fc.Arbitrary<Tool[]> = fc
  .uniqueArray(name, { minLength: 1, maxLength: 3 })
  .chain((names) =>
    fc.tuple(
      ...names.map((each) =>
        fc
          .record({
            type: fc.constant('function' as const),
            name: fc.constant(each),
            description: fc.option(said, { nil: null }),
            schema,
            strict: fc.constantFrom(null, true, false),
          })
          .map((tool) => {
            // A tool is held to a closed schema only.
            const closed = { ...tool.schema, additionalProperties: false };
            return tool.strict === true ? { ...tool, schema: closed } : tool;
          }),
      ),
    ),
  );

const reasoning: fc.Arbitrary<ReasoningRequest | null> = fc.oneof(
  fc.constant(null),
  fc.constant({ mode: 'off' as const, effort: null, budget: null, show: null }),
  fc.record({
    mode: fc.constant('on' as const),
    effort: fc.constant(null),
    budget: fc.integer({ min: 1024, max: 4095 }),
    show: fc.constantFrom(null, false),
  }),
);

export const requests: fc.Arbitrary<GenerationRequest> = fc
  .record({
    stream: fc.boolean(),
    system: fc.array(text, { maxLength: 3 }),
    turns: conversation,
    tools: fc.oneof(fc.constant([]), tools),
    choice: fc.constantFrom('auto', 'none', 'required', 'one', null),
    serial: fc.boolean(),
    maxOutputTokens: fc.integer({ min: 4096, max: 9000 }),
    stop: fc.array(said, { maxLength: 3 }),
    reasoning,
    format: fc.constantFrom(null, {
      type: 'schema' as const,
      name: null,
      description: null,
      schema: { type: 'object', properties: {}, additionalProperties: false },
      strict: null,
    }),
    endUser: fc.option(said, { nil: null }),
  })
  .map(({ choice, serial, ...fields }) => {
    const [first] = fields.tools;
    const hasChoice = first !== undefined && choice !== null;
    const mode = choice === 'one' ? 'required' : (choice ?? 'auto');
    const only = choice === 'one' && first !== undefined ? [first.name] : null;
    // A loop whose thoughts are gone and a forced call turn thinking off: those have tests of their own.
    const isFree = fields.turns.length === 1 && mode !== 'required';
    return requestOf({
      ...fields,
      reasoning: isFree || fields.reasoning?.mode === 'off' ? fields.reasoning : null,
      toolChoice: hasChoice ? { mode, only } : null,
      parallelTools: hasChoice && serial && mode !== 'none' ? false : null,
      wantsUsage: true,
    });
  });

const finishes: fc.Arbitrary<Finish> = fc.constantFrom(
  { reason: 'end' },
  { reason: 'length' },
  { reason: 'stop-sequence', stopSequence: 'END' },
  { reason: 'stop-sequence' },
  { reason: 'context-full' },
  { reason: 'filtered' },
  { reason: 'pause' },
);

/** Answers as this protocol's decoder gives them. */
export const candidates: fc.Arbitrary<Candidate> = fc
  .tuple(
    fc.array(
      fc.oneof(
        text,
        thinking,
        fc.record({ name, input }).map((call): Block => ({
          type: 'tool-call',
          id: 'x',
          name: call.name,
          kind: 'function',
          arguments: call.input,
        })),
      ),
      { minLength: 1, maxLength: 5 },
    ),
    finishes,
  )
  .map(([blocks, finish]) => {
    const named = blocks.map((block, index): Block =>
      block.type === 'tool-call' ? { ...block, id: `call_${index}` } : block,
    );
    const hasCalls = named.some(({ type }) => type === 'tool-call');
    return {
      blocks: named,
      finish: finish.reason === 'end' && hasCalls ? { reason: 'tool' } : finish,
    };
  });

const envelope = (data: string): NativeState => ({
  protocol: 'messages',
  kind: 'envelope',
  data: `gw2.${data}`,
});

/** Commands that become a sequence which the canonical model allows, in any order and as interleaved as can be. */
type Command =
  | { readonly do: 'say'; readonly type: 'text' | 'refusal' | 'reasoning'; readonly text: string }
  | { readonly do: 'state'; readonly state: NativeState }
  | { readonly do: 'end' | 'cite' | 'image' | 'other-choice' }
  | { readonly do: 'call'; readonly id: string | null }
  | { readonly do: 'arguments'; readonly at: number; readonly text: string }
  | { readonly do: 'call-end'; readonly at: number };

const command: fc.Arbitrary<Command> = fc.oneof(
  fc.record({
    do: fc.constant('say' as const),
    type: fc.constantFrom('text' as const, 'refusal' as const, 'reasoning' as const),
    text: fc.string({ maxLength: 4 }),
  }),
  fc.record({
    do: fc.constant('state' as const),
    state: fc.oneof(
      name.map(envelope),
      name.map((data): NativeState => ({ protocol: 'messages', kind: 'redacted', data })),
      name.map((data): NativeState => ({ protocol: 'responses', kind: 'encrypted', data })),
    ),
  }),
  fc.record({
    do: fc.constantFrom('end' as const, 'cite' as const, 'image' as const, 'other-choice' as const),
  }),
  fc.record({ do: fc.constant('call' as const), id: fc.option(name, { nil: null }) }),
  fc.record({
    do: fc.constant('arguments' as const),
    at: fc.nat(9),
    text: fc.constantFrom('{', '{"a"', ':1}', '}', '', ' ', '"x"', '['),
  }),
  fc.record({ do: fc.constant('call-end' as const), at: fc.nat(9) }),
);

export const eventSequences: fc.Arbitrary<GenerationEvent[]> = fc
  .tuple(fc.array(command, { maxLength: 25 }), finishes)
  .map(([commands, finish]) => {
    const events: GenerationEvent[] = [];
    const open: number[] = [];
    let calls = 0;
    for (const each of commands) {
      switch (each.do) {
        case 'say':
          events.push({ type: each.type, text: each.text });
          break;
        case 'state':
          events.push({ type: 'state', state: each.state });
          break;
        case 'end':
          events.push({ type: 'block-end' });
          break;
        case 'cite':
          events.push({
            type: 'citation',
            citation: { url: 'https://a.example', title: null, start: 0, end: 1 },
          });
          break;
        case 'image':
          events.push({
            type: 'block',
            block: {
              type: 'image',
              source: { kind: 'url', url: 'https://a.example/i.png', mime: null },
            },
          });
          break;
        case 'other-choice':
          events.push({ type: 'text', text: 'another answer', choice: 1 });
          break;
        case 'call':
          events.push({
            type: 'call-start',
            call: calls,
            id: each.id,
            name: 'f',
            kind: 'function',
          });
          open.push(calls);
          calls += 1;
          break;
        case 'arguments': {
          const call = open[each.at % Math.max(open.length, 1)];
          if (call !== undefined) events.push({ type: 'call-arguments', call, text: each.text });
          break;
        }
        case 'call-end': {
          const [call] = open.splice(each.at % Math.max(open.length, 1), 1);
          if (call !== undefined) events.push({ type: 'call-end', call });
          break;
        }
      }
    }
    for (const call of open) events.push({ type: 'call-end', call });
    return [...events, { type: 'finish', finish }];
  });

/** The events of a response's blocks, in the simplest order. */
export function eventsOf({ blocks, finish }: Candidate): GenerationEvent[] {
  let calls = 0;
  const events = blocks.flatMap((block): GenerationEvent[] => {
    switch (block.type) {
      case 'text':
      case 'refusal':
        return [{ type: block.type, text: block.text }, { type: 'block-end' }];
      case 'reasoning': {
        const state: GenerationEvent[] =
          block.state === undefined ? [] : [{ type: 'state', state: block.state }];
        return [{ type: 'reasoning', text: block.text }, ...state, { type: 'block-end' }];
      }
      case 'tool-call': {
        const call = calls;
        calls += 1;
        const { id, name: called, kind } = block;
        return [
          { type: 'call-start', call, id, name: called, kind },
          { type: 'call-arguments', call, text: block.arguments },
          { type: 'call-end', call },
        ];
      }
      default:
        return [{ type: 'block', block }];
    }
  });
  return [...events, { type: 'finish', finish }];
}
