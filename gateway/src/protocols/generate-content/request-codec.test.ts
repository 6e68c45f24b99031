import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decode,
  type Json,
  request,
  target,
} from '../../../test/support/generate-content-codec.ts';
import { nativeRequest } from '../../../test/support/generate-content-samples.ts';
import {
  type Block,
  type GenerationRequest,
  type ToolCallBlock,
  Unconvertible,
} from '../../canonical/index.ts';
import { GatewayError } from '../../errors/index.ts';
import { generateContentCodec } from './index.ts';

const encode = (given: Partial<GenerationRequest>, model?: string, capabilities?: string[]) =>
  generateContentCodec.encodeRequest(request(given), target(model, capabilities));
const contentsOf = (given: Partial<GenerationRequest>, model?: string) =>
  encode(given, model).json['contents'] as { role: string; parts: Json[] }[];
const configOf = (given: Partial<GenerationRequest>, model?: string) =>
  encode(given, model).json['generationConfig'];
const user = (...blocks: Block[]) => ({ role: 'user' as const, blocks });
const assistant = (...blocks: Block[]) => ({ role: 'assistant' as const, blocks });
const text = (words: string): Block => ({ type: 'text', text: words });
const call = (id: string, given: Partial<ToolCallBlock> = {}): ToolCallBlock => ({
  type: 'tool-call',
  id,
  name: `f_${id}`,
  kind: 'function',
  arguments: '{}',
  ...given,
});
const result = (id: string, words: string, isError = false): Block => ({
  type: 'tool-result',
  id,
  name: null,
  content: [{ type: 'text', text: words }],
  isError,
});
const decoded = (parts: unknown, role = 'user') => decode({ contents: [{ role, parts }] }).turns[0];
const signature = {
  protocol: 'generate-content',
  kind: 'thought-signature',
  data: 'c2ln',
} as const;

describe('requests', () => {
  it('come back as they were', () => {
    fc.assert(
      fc.property(nativeRequest, (given) => {
        const { json, losses } = generateContentCodec.encodeRequest(given, target());
        const back = decode(json, given.model);
        expect(back).toEqual(given);
        expect(losses.filter(({ what }) => what !== 'logprobs')).toEqual([]);
        expect(losses.some(({ what }) => what === 'logprobs')).toBe(given.logprobs !== null);
      }),
    );
  });

  it('are the same bytes every time, so that caches stay warm', () => {
    fc.assert(
      fc.property(nativeRequest, (given) => {
        const written = () => JSON.stringify(generateContentCodec.encodeRequest(given, target()));
        expect(written()).toBe(written());
      }),
    );
  });
});

describe('decoding', () => {
  it('reads both spellings', () => {
    const camel = {
      systemInstruction: { parts: [{ text: 's' }] },
      contents: [
        { role: 'model', parts: [{ functionCall: { name: 'f' }, thoughtSignature: 'c2ln' }] },
        {
          role: 'function',
          parts: [{ functionResponse: { name: 'f', response: { output: 'o' } } }],
        },
        { parts: [{ inlineData: { mimeType: 'image/png', data: 'AAAA' } }] },
      ],
      tools: [{ functionDeclarations: [{ name: 'f', parametersJsonSchema: { type: 'object' } }] }],
      toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['f'] } },
      generationConfig: {
        topK: 3,
        stopSequences: ['x', ''],
        thinkingConfig: { thinkingBudget: -1 },
      },
    };
    const snake = JSON.parse(
      JSON.stringify(camel).replace(/"(\w+)":/g, (_, name: string) => {
        const spelled = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
        return `"${spelled}":`;
      }),
    ) as unknown;
    expect(decode(snake)).toEqual(decode(camel));
    expect(decode(camel)).toMatchObject({
      system: [{ text: 's' }],
      turns: [
        { role: 'assistant', blocks: [{ id: null, name: 'f', arguments: '{}', state: signature }] },
        { role: 'user', blocks: [{ id: null, name: 'f', content: [{ text: 'o' }] }] },
        {
          role: 'user',
          blocks: [{ type: 'image', source: { mime: 'image/png', base64: 'AAAA' } }],
        },
      ],
      toolChoice: { mode: 'required', only: ['f'] },
      topK: 3,
      stop: ['x'],
      reasoning: { mode: 'on', effort: null, budget: null },
    });
  });

  it.each<[string, unknown, string]>([
    ['an unknown role', { contents: [{ role: 'system', parts: [] }] }, 'contents.0.role'],
    [
      'broken base64',
      {
        contents: [
          { parts: [{ text: 'x' }, { inlineData: { mimeType: 'image/png', data: '&' } }] },
        ],
      },
      'contents.0.parts.1.inlineData.data',
    ],
    [
      'half a base64 group',
      { contents: [{ parts: [{ inlineData: { data: 'AAAAA' } }] }] },
      'contents.0.parts.0.inlineData.data',
    ],
    ['parts that are none', { contents: [{ parts: ['x'] }] }, 'contents.0.parts'],
    [
      'a call by the user',
      { contents: [{ parts: [{ functionCall: { name: 'f' } }] }] },
      'contents.0.parts.0.functionCall',
    ],
    [
      'an image as instruction',
      { contents: [], systemInstruction: { parts: [{ inlineData: { data: '' } }] } },
      'systemInstruction.parts.0',
    ],
    [
      'a text as number',
      { contents: [], generationConfig: { topP: 'x' } },
      'generationConfig.topP',
    ],
  ])('refuses %s', (_, json, param) => {
    const refusal = expect.objectContaining({ errorName: 'invalid_value', param }) as GatewayError;
    expect(() => decode(json)).toThrow(refusal);
  });

  it('takes base64 in the other alphabet and without padding', () => {
    const data = { mimeType: 'image/png', data: '-_-_AA' };
    expect(decoded([{ inlineData: data }])?.blocks).toMatchObject([
      { source: { base64: '+/+/AA==' } },
    ]);
  });

  it('puts the pieces of a streamed answer together again', () => {
    const parts = [
      { text: 'a', thought: true },
      { text: 'b', thought: true },
      { text: '', thought: true, thoughtSignature: 'gw1.x.y' },
      { text: 'c' },
      { text: '', thoughtSignature: 'c2ln' },
    ];
    expect(decoded(parts, 'model')?.blocks).toEqual([
      {
        type: 'reasoning',
        text: 'ab',
        state: { protocol: 'generate-content', kind: 'envelope', data: 'gw1.x.y' },
      },
      { type: 'text', text: 'c', state: signature },
    ]);
  });

  it.each<[string, Json, string, boolean]>([
    ['a text under a customary name', { result: 'x' }, 'x', false],
    ['an error', { error: 'x' }, 'x', true],
    ['anything else', { output: 'x', n: 1 }, '{"output":"x","n":1}', false],
  ])('a result that is %s', (_, response, words, isError) => {
    const block = decoded([{ functionResponse: { name: 'f', response } }])?.blocks[0];
    expect(block).toMatchObject({ content: [{ text: words }], object: response, isError });
  });

  it('K18: reads both kinds of parameters, and none', () => {
    const properties = { a: { type: 'string' } };
    const { tools } = decode({
      contents: [],
      tools: [
        {
          functionDeclarations: [
            { name: 'f', parameters: { type: 'OBJECT', properties: { a: { type: 'STRING' } } } },
            { name: 'g', parametersJsonSchema: { type: 'object', properties } },
            { name: 'h', parameters: { type: 'OBJECT' } },
            { name: 'i' },
          ],
          googleSearch: {},
        },
        { code_execution: {} },
      ],
    });
    expect(tools).toMatchObject([
      { name: 'f', schema: { type: 'object', properties } },
      { name: 'g', schema: { type: 'object', properties } },
      { name: 'h', schema: { type: 'object', properties: {} } },
      { name: 'i', schema: null },
      { type: 'hosted', kind: 'web-search', value: { googleSearch: {} } },
      { type: 'hosted', kind: 'code', name: 'codeExecution' },
    ]);
  });

  it('says what nobody else can do', () => {
    const { extensions } = decode({
      contents: [],
      cachedContent: 'cachedContents/x',
      safetySettings: [],
      generation_config: { response_modalities: ['Image', 'TEXT'], speech_config: {} },
      toolConfig: { functionCallingConfig: { mode: 'VALIDATED' } },
    });
    const fates = Object.fromEntries(extensions.map(({ name, ifForeign }) => [name, ifForeign]));
    expect(fates).toEqual({
      cachedContent: 'refuse',
      safetySettings: 'drop',
      'generationConfig.responseModalities': 'refuse',
      'generationConfig.speechConfig': 'drop',
      'toolConfig.functionCallingConfig.mode': 'drop',
    });
  });

  it('tells files that the provider keeps from those on the web', () => {
    const files = [
      'https://generativelanguage.googleapis.com/v1beta/files/abc',
      'gs://bucket/a.mp4',
      'https://example.com/a.png',
      'https://www.youtube.com/watch?v=x',
    ];
    const kinds = decoded(files.map((fileUri) => ({ fileData: { fileUri } })))?.blocks;
    expect(kinds).toMatchObject([
      { source: { kind: 'file-id' } },
      { source: { kind: 'file-id' } },
      { source: { kind: 'url' } },
      { type: 'video', source: { kind: 'url' } },
    ]);
  });
});

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

  it('K20: signatures go back on the part they came with', () => {
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

  it('K20: unsigned calls of the current turn are marked, on models that demand it', () => {
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

  it.each<[string, unknown, boolean]>([
    ['', {}, false],
    ['{"b":1,"a":2}', { b: 1, a: 2 }, false],
    ['[1]', { value: [1] }, false],
    ['{"a":', { raw_arguments: '{"a":' }, true],
  ])('arguments %j', (written, args, isLost) => {
    const turns = [user(text('go')), assistant(call('a', { arguments: written }))];
    const { json, losses } = encode({ turns }, 'gemini-2.5-pro');
    expect((json['contents'] as Json[])[1]).toMatchObject({ parts: [{ functionCall: { args } }] });
    expect(losses.map(({ what }) => what)).toEqual(isLost ? ['tool_call.arguments'] : []);
  });

  it('media in results stand inside, or beside them on older models', () => {
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

  it('later instructions are said by the user, and nothing is empty', () => {
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

describe('encoding the settings', () => {
  it.each<[string, Partial<GenerationRequest>, unknown]>([
    [
      'gemini-3.5-flash',
      { reasoning: { mode: 'off', effort: null, budget: null, show: null } },
      { thinkingLevel: 'MINIMAL' },
    ],
    [
      'gemini-3.1-pro-preview',
      { reasoning: { mode: 'off', effort: null, budget: null, show: null } },
      { thinkingLevel: 'LOW' },
    ],
    [
      'gemini-3-pro-preview',
      { reasoning: { mode: 'on', effort: 'medium', budget: null, show: false } },
      { thinkingLevel: 'HIGH' },
    ],
    [
      'gemini-flash-latest',
      { reasoning: { mode: 'on', effort: 'max', budget: null, show: true } },
      { thinkingLevel: 'HIGH', includeThoughts: true },
    ],
    [
      'gemini-3.5-flash',
      { reasoning: { mode: 'on', effort: null, budget: 8192, show: false } },
      { thinkingLevel: 'MEDIUM' },
    ],
    [
      'gemini-3.5-flash',
      { reasoning: { mode: 'on', effort: null, budget: null, show: null } },
      { includeThoughts: true },
    ],
    [
      'gemini-2.5-flash',
      { reasoning: { mode: 'off', effort: null, budget: null, show: null } },
      { thinkingBudget: 0 },
    ],
    [
      'gemini-2.5-pro',
      { reasoning: { mode: 'off', effort: null, budget: null, show: null } },
      { thinkingBudget: 128 },
    ],
    [
      'gemini-2.5-flash',
      { reasoning: { mode: 'on', effort: 'low', budget: null, show: null } },
      { thinkingBudget: 1024, includeThoughts: true },
    ],
    [
      'gemini-2.5-pro',
      { reasoning: { mode: 'on', effort: 'max', budget: null, show: false } },
      { thinkingBudget: 32_768 },
    ],
    [
      'gemini-2.5-flash',
      { reasoning: { mode: 'on', effort: null, budget: null, show: false } },
      { thinkingBudget: -1 },
    ],
  ])('reasoning of %s %j', (model, given, thinkingConfig) => {
    expect(configOf(given, model)).toEqual({ thinkingConfig });
  });

  it('asks no model for reasoning that has none', () => {
    const reasoning = { mode: 'on', effort: 'high', budget: null, show: null } as const;
    const { json, losses } = encode({ reasoning }, 'gemini-2.0-flash');
    expect(json['generationConfig']).toBeUndefined();
    expect(losses).toEqual([{ what: 'reasoning', how: 'dropped' }]);
    expect(configOf({ reasoning: null })).toBeUndefined();
  });

  it('K18: a tool without parameters is sent without', () => {
    const tool = { type: 'function', name: 'f', description: null, strict: true } as const;
    const { json, losses } = encode({
      tools: [
        { ...tool, schema: null },
        { ...tool, name: 'g', schema: { type: 'object', properties: {} } },
      ],
    });
    expect(json['tools']).toEqual([{ functionDeclarations: [{ name: 'f' }, { name: 'g' }] }]);
    expect(losses).toEqual([{ what: 'tool.strict', how: 'dropped' }]);
  });

  it('reports what has no place', () => {
    const own = { protocol: 'chat', value: 1 } as const;
    const { losses } = encode({
      verbosity: 'low',
      cacheKey: 'k',
      endUser: 'u',
      extensions: [
        { ...own, name: 'logit_bias', ifForeign: 'drop' },
        { ...own, name: 'metadata', ifForeign: 'ignore' },
      ],
    });
    expect(losses).toEqual(
      ['verbosity', 'cache_key', 'user', 'logit_bias'].map((what) => ({ what, how: 'dropped' })),
    );
  });

  it.each<[string, Partial<GenerationRequest>, string]>([
    [
      'too many stop sequences',
      { stop: ['1', '2', '3', '4', '5', '6'] },
      'generationConfig.stopSequences',
    ],
    [
      'what would make another answer',
      {
        extensions: [
          { protocol: 'responses', name: 'previous_response_id', value: 'r', ifForeign: 'refuse' },
        ],
      },
      'previousResponseId',
    ],
    ['a conversation without a word', { turns: [] }, 'contents'],
    [
      'a file of another provider',
      { turns: [user({ type: 'image', source: { kind: 'file-id', protocol: 'chat', id: 'f' } })] },
      'fileData.fileUri',
    ],
    ['a result without a call', { turns: [user(result('x', 'y'))] }, 'functionResponse'],
    [
      'a strict schema that cannot be enforced',
      {
        format: {
          type: 'schema',
          name: null,
          description: null,
          schema: { type: 'object', properties: { next: { $ref: '#' } } },
          strict: true,
        },
      },
      'generationConfig.responseMimeType',
    ],
  ])('refuses %s', (_, given, field) => {
    let refused: unknown;
    try {
      encode(given);
    } catch (error) {
      refused = error;
    }
    expect(refused).toBeInstanceOf(Unconvertible);
    expect(generateContentCodec.fieldName((refused as Unconvertible).what)).toBe(field);
  });

  it('instructions alone are what the user says', () => {
    const { json, losses } = encode({ system: [{ type: 'text', text: 's' }], turns: [] });
    expect(json).toEqual({ contents: [{ role: 'user', parts: [{ text: 's' }] }] });
    expect(losses).toEqual([{ what: 'system', how: 'approximated' }]);
  });
});
