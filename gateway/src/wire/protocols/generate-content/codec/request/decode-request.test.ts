import { describe, expect, it } from 'vitest';
import { decode, type Json } from '#test/support/generate-content-codec.ts';
import { GatewayError } from '#errors/index.ts';

const decoded = (parts: unknown, role = 'user') => decode({ contents: [{ role, parts }] }).turns[0];
const signature = {
  protocol: 'generate-content',
  kind: 'thought-signature',
  data: 'c2ln',
} as const;

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
    ['a part that is a text', { contents: [{ parts: ['x'] }] }, 'contents.0.parts'],
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

  it('accepts base64 in the other alphabet and without padding', () => {
    const data = { mimeType: 'image/png', data: '-_-_AA' };
    expect(decoded([{ inlineData: data }])?.blocks).toMatchObject([
      { source: { base64: '+/+/AA==' } },
    ]);
  });

  it('joins the pieces of a streamed response', () => {
    const parts = [
      { text: 'a', thought: true },
      { text: 'b', thought: true },
      { text: '', thought: true, thoughtSignature: 'gw2.x.y' },
      { text: 'c' },
      { text: '', thoughtSignature: 'c2ln' },
    ];
    expect(decoded(parts, 'model')?.blocks).toEqual([
      {
        type: 'reasoning',
        text: 'ab',
        state: { protocol: 'generate-content', kind: 'envelope', data: 'gw2.x.y' },
      },
      { type: 'text', text: 'c', state: signature },
    ]);
  });

  it('reasoning belongs to the model only', () => {
    expect(decoded([{ text: 'a', thought: true }])?.blocks).toEqual([{ type: 'text', text: 'a' }]);
  });

  it.each<[string, Json, string, boolean]>([
    ['a text under a customary name', { result: 'x' }, 'x', false],
    ['an error', { error: 'x' }, 'x', true],
    ['anything else', { output: 'x', n: 1 }, '{"output":"x","n":1}', false],
  ])('a result that is %s', (_, response, words, isError) => {
    const block = decoded([{ functionResponse: { name: 'f', response } }])?.blocks[0];
    expect(block).toMatchObject({ content: [{ text: words }], object: response, isError });
  });

  it('K18: reads both kinds of parameters, and their absence', () => {
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

  it('marks what no other protocol can do', () => {
    const { extensions } = decode({
      contents: [],
      cachedContent: 'cachedContents/x',
      safetySettings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'OFF' }],
      labels: {},
      generation_config: {
        response_modalities: ['Image', 'TEXT'],
        speech_config: { languageCode: 'de' },
      },
      toolConfig: { functionCallingConfig: { mode: 'VALIDATED' } },
    });
    const handlings = Object.fromEntries(
      extensions.map(({ name, ifForeign }) => [name, ifForeign]),
    );
    expect(handlings).toEqual({
      cachedContent: 'refuse',
      safetySettings: 'drop',
      labels: 'ignore',
      'generationConfig.responseModalities': 'refuse',
      'generationConfig.speechConfig': 'drop',
      'toolConfig.functionCallingConfig.mode': 'drop',
    });
  });

  it('distinguishes stored files from files on the web', () => {
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
