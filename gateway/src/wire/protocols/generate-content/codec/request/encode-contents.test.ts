import { describe, expect, it } from 'vitest';
import { assistant, call as anyCall, result as anyResult, user } from '#test/support/canonical.ts';
import { type Json, request, target } from '#test/support/generate-content-codec.ts';
import { type Block, type GenerationRequest, type ToolCallBlock } from '#canonical/index.ts';
import { generateContentCodec } from '../../index.ts';

const encode = (given: Partial<GenerationRequest>, model?: string, capabilities?: string[]) =>
  generateContentCodec.encodeRequest(request(given), target(model, capabilities));
const contentsOf = (given: Partial<GenerationRequest>, model?: string) =>
  encode(given, model).json['contents'] as { role: string; parts: Json[] }[];
const text = (words: string): Block => ({ type: 'text', text: words });
const call = (id: string, given: Partial<ToolCallBlock> = {}) =>
  anyCall({ id, name: `f_${id}`, ...given });
const result = (id: string, words: string, isError = false) =>
  anyResult({ id, content: [{ type: 'text', text: words }], isError });
const signature = {
  protocol: 'generate-content',
  kind: 'thought-signature',
  data: 'c2ln',
} as const;

describe('encoding the conversation', () => {
  it('K15: results of parallel calls are one content, in the order of the calls', () => {
    const turns = [
      user(text('go')),
      assistant(call('a'), call('b'), call('c')),
      user(result('c', '3')),
      user(result('a', '1'), text('and now?')),
      user(result('b', '2', true)),
    ];
    const contents = contentsOf({ turns }, 'gemini-2.5-flash');
    expect(contents).toHaveLength(3);
    expect(contents[2]).toEqual({
      role: 'user',
      parts: [
        { functionResponse: { name: 'f_a', response: { output: '1' } } },
        { functionResponse: { name: 'f_b', response: { error: '2' } } },
        { functionResponse: { name: 'f_c', response: { output: '3' } } },
        { text: 'and now?' },
      ],
    });
  });

  it('K20: signatures return on the part with which they came', () => {
    const turns = [
      user(text('go')),
      assistant({ type: 'text', text: 'x', state: signature }, call('a', { state: signature })),
      user(result('a', '1')),
    ];
    expect(contentsOf({ turns })[1]?.parts).toEqual([
      { text: 'x', thoughtSignature: 'c2ln' },
      { functionCall: { id: 'a', name: 'f_a', args: {} }, thoughtSignature: 'c2ln' },
    ]);
  });

  it('K20: unsigned calls of the current turn are marked for models that require it', () => {
    const turns = [
      user(text('go')),
      assistant(call('a')),
      user(result('a', '1')),
      assistant(text('so')),
      user(text('again')),
      assistant(call('b'), call('c')),
      user(result('b', '2'), result('c', '3')),
      assistant(call('d', { state: { protocol: 'messages', kind: 'signature', data: 'x' } })),
      user(result('d', '4')),
    ];
    const marks = (model: string) =>
      contentsOf({ turns }, model).flatMap(({ parts }) =>
        parts.flatMap((part) => ('functionCall' in part ? [part['thoughtSignature'] ?? null] : [])),
      );
    const skip = 'skip_thought_signature_validator';
    expect(marks('gemini-3-flash-preview')).toEqual([null, skip, null, skip]);
    expect(marks('gemini-2.5-flash')).toEqual([null, null, null, null]);
  });

  it('K20: text beside results does not begin a turn', () => {
    const turns = [
      user(text('go')),
      assistant(call('a')),
      user(result('a', '1'), text('a remark')),
      assistant(call('b')),
      user(result('b', '2'), text('another')),
    ];
    const calls = contentsOf({ turns }, 'gemini-3-flash-preview').flatMap(({ parts }) =>
      parts.filter((part) => 'functionCall' in part),
    );
    expect(calls).toMatchObject([
      { thoughtSignature: 'skip_thought_signature_validator' },
      { thoughtSignature: 'skip_thought_signature_validator' },
    ]);
  });

  it.each<[string, unknown, boolean]>([
    ['', {}, false],
    ['{"b":1,"a":2}', { b: 1, a: 2 }, false],
    ['[1]', { value: [1] }, false],
    ['{"a":', { raw_arguments: '{"a":' }, true],
  ])('arguments %j', (written, args, isLost) => {
    const turns = [user(text('go')), assistant(call('a', { arguments: written }))];
    const { json, losses } = encode({ turns }, 'gemini-2.5-pro');
    // Models before the third generation have no ids.
    const parts = [{ functionCall: { name: 'f_a', args } }];
    expect((json['contents'] as Json[])[1]).toEqual({ role: 'model', parts });
    expect(losses.map(({ what }) => what)).toEqual(isLost ? ['tool_call.arguments'] : []);
  });

  it('media of results go inside them, or beside them for older models', () => {
    const image: Block = {
      type: 'image',
      source: { kind: 'data', mime: 'image/png', base64: 'AA==' },
    };
    const turns = [
      user(text('go')),
      assistant(call('a')),
      user({ type: 'tool-result', id: 'a', name: null, content: [image], isError: false }),
    ];
    const inline = { inlineData: { mimeType: 'image/png', data: 'AA==' } };
    expect(contentsOf({ turns }, 'gemini-3-flash')[2]?.parts).toEqual([
      { functionResponse: { id: 'a', name: 'f_a', response: { output: '' }, parts: [inline] } },
    ]);
    expect(contentsOf({ turns }, 'gemini-2.5-flash')[2]?.parts).toEqual([
      { functionResponse: { name: 'f_a', response: { output: '' } } },
      inline,
    ]);
  });

  it('later instructions become the user’s, and no content is empty', () => {
    const turns = [
      user(text('a'), text('')),
      { role: 'system' as const, blocks: [text('b')] },
      assistant(text('')),
      user(text('c')),
    ];
    const { json, losses } = encode({ turns });
    expect(json['contents']).toEqual([
      { role: 'user', parts: [{ text: 'a' }, { text: 'b' }, { text: 'c' }] },
    ]);
    expect(losses).toEqual([{ what: 'system', how: 'approximated' }]);
  });
});
