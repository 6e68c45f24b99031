import fc from 'fast-check';
import type {
  Block,
  Candidate,
  FinishReason,
  GenerationEvent,
  GenerationResponse,
  NativeState,
} from '#canonical/index.ts';

const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 });
const base64 = fc
  .uint8Array({ maxLength: 9 })
  .map((bytes) => Buffer.from(bytes).toString('base64'));
const object = fc.dictionary(fc.string({ minLength: 1 }), fc.jsonValue({ maxDepth: 1 }), {
  maxKeys: 3,
});
const state: fc.Arbitrary<NativeState> = fc
  .tuple(
    fc.constantFrom('thought-signature', 'envelope' as const),
    fc.stringMatching(/^[A-Za-z0-9+/]{4,12}$/),
  )
  .map(([kind, data]) => ({
    protocol: 'generate-content',
    kind,
    data: kind === 'envelope' ? `gw2.${data}` : data,
  }));
const signed = fc.oneof(
  fc.constant({}),
  state.map((state) => ({ state })),
);

const piece: fc.Arbitrary<Block> = fc
  .tuple(
    fc.oneof<fc.Arbitrary<Block>[]>(
      text.map((words) => ({ type: 'text', text: words })),
      text.map((words) => ({ type: 'reasoning', text: words })),
      fc.tuple(fc.option(text, { nil: null }), text, object).map(([id, name, args]) => ({
        type: 'tool-call',
        id,
        name,
        kind: 'function',
        arguments: JSON.stringify(args),
      })),
      base64.map((data) => ({
        type: 'image',
        source: { kind: 'data', mime: 'image/png', base64: data },
      })),
    ),
    signed,
  )
  .map(([block, extra]) => ({ ...block, ...extra }));

/** Neighbours that a stream cannot tell apart are one block. */
function distinct(blocks: readonly Block[]): Block[] {
  return blocks.filter((block, index) => {
    const before = blocks[index - 1];
    const isDelta = block.type === 'text' || block.type === 'reasoning';
    return !isDelta || before?.type !== block.type;
  });
}

const candidate: fc.Arbitrary<Candidate> = fc
  .tuple(
    fc.array(piece, { maxLength: 4 }).map(distinct),
    fc.constantFrom<FinishReason>('end', 'length', 'filtered', 'other'),
  )
  .map(([blocks, named]) => {
    const hasCalls = blocks.some(({ type }) => type === 'tool-call');
    const reason = hasCalls && (named === 'end' || named === 'other') ? 'tool' : named;
    return { blocks, finish: { reason } };
  });

/** Answers that the protocol can say without any loss. */
export const nativeResponse: fc.Arbitrary<GenerationResponse> = fc
  .array(candidate, { minLength: 1, maxLength: 2 })
  .map((candidates) => ({ candidates, extensions: [] }));

const call = fc.nat(2);
const words = fc.string({ unit: 'grapheme', maxLength: 5 });

/** Single events, in no order at all. */
export const responseEvents: fc.Arbitrary<GenerationEvent> = fc
  .tuple(
    fc.oneof<fc.Arbitrary<GenerationEvent>[]>(
      words.map((text) => ({ type: 'text', text })),
      words.map((text) => ({ type: 'refusal', text })),
      words.map((text) => ({ type: 'reasoning', text })),
      state.map((state) => ({ type: 'state', state })),
      fc.constant({ type: 'block-end' }),
      call.map((call) => ({ type: 'call-start', call, id: null, name: 'f', kind: 'function' })),
      fc.tuple(call, fc.constantFrom('', '{', '}', '"a":1', '[]')).map(([call, text]) => ({
        type: 'call-arguments',
        call,
        text,
      })),
      call.map((call) => ({ type: 'call-end', call })),
      piece.map((block) => ({ type: 'block', block })),
      fc.constant({
        type: 'citation',
        citation: { url: 'https://a.example', title: null, start: 0, end: 1 },
      }),
      fc
        .constantFrom<FinishReason>('end', 'blocked', 'tool', 'pause', 'refused')
        .map((reason) => ({ type: 'finish', finish: { reason } })),
    ),
    fc.constantFrom(undefined, 0, 1),
  )
  .map(([event, choice]) => (choice === undefined ? event : { ...event, choice }));
