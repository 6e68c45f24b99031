import { describe, expect, it } from 'vitest';
import { result, user } from '#test/support/canonical.ts';
import { request, target } from '#test/support/generate-content-codec.ts';
import { type GenerationRequest, Unconvertible } from '#canonical/index.ts';
import { generateContentCodec } from '../../index.ts';

const encode = (given: Partial<GenerationRequest>, model?: string, capabilities?: string[]) =>
  generateContentCodec.encodeRequest(request(given), target(model, capabilities));
const configOf = (given: Partial<GenerationRequest>, model?: string) =>
  encode(given, model).json['generationConfig'];

describe('a response format beside functions', () => {
  const schema = { type: 'object', properties: { a: { type: 'string' } } };
  const form = { type: 'schema', name: 'n', description: null, schema, strict: true } as const;
  const tools = [
    { type: 'function', name: 'f', description: null, schema: null, strict: null },
  ] as const;
  const system = [{ type: 'text', text: 's' }] as const;
  const systemOf = (json: Readonly<Record<string, unknown>>) =>
    JSON.stringify(json['systemInstruction']);

  it.each(['gemini-2.5-flash', 'gemini-2.0-flash', 'tuned'])('is given in words to %s', (model) => {
    for (const format of [form, { type: 'json' } as const]) {
      const { json, losses } = encode({ format, tools, system }, model);
      expect(json).not.toHaveProperty('generationConfig');
      expect(systemOf(json)).toMatch(/"s".*answer with (one JSON object|JSON) and nothing else/);
      expect(losses).toEqual([{ what: 'response_format', how: 'approximated' }]);
    }
    expect(systemOf(encode({ format: form, tools, system }, model).json)).toContain('{\\"a\\"');
  });

  it.each([
    ['gemini-3-pro-preview', { tools }],
    ['gemini-2.5-flash', { tools: [] }],
  ])('is held to by %s with %j', (model, given) => {
    const { json } = encode({ ...given, format: form, system }, model);
    expect(json['generationConfig']).toMatchObject({ responseMimeType: 'application/json' });
    expect(json['systemInstruction']).toEqual({ parts: [{ text: 's' }] });
  });

  it('of plain text needs no member', () => {
    const { json, losses } = encode({ format: { type: 'text' }, tools }, 'gemini-2.5-flash');
    expect([json['systemInstruction'], losses]).toEqual([undefined, []]);
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

  it('requests no reasoning from a model without it', () => {
    const reasoning = { mode: 'on', effort: 'high', budget: null, show: null } as const;
    const { json, losses } = encode({ reasoning }, 'gemini-2.0-flash');
    expect(json['generationConfig']).toBeUndefined();
    expect(losses).toEqual([{ what: 'reasoning', how: 'dropped' }]);
    expect(configOf({ reasoning: null })).toBeUndefined();
  });

  it('drops a seed that the API could not read', () => {
    expect(configOf({ seed: 7 })).toEqual({ seed: 7 });
    const { json, losses } = encode({ seed: 2 ** 40 });
    expect(json['generationConfig']).toBeUndefined();
    expect(losses).toEqual([{ what: 'seed', how: 'dropped' }]);
  });

  it('K18: a tool without parameters is sent without them', () => {
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
      ['cache_key', 'logit_bias', 'user', 'verbosity'].map((what) => ({ what, how: 'dropped' })),
    );
  });

  it.each<[string, Partial<GenerationRequest>, string]>([
    [
      'too many stop sequences',
      { stop: ['1', '2', '3', '4', '5', '6'] },
      'generationConfig.stopSequences',
    ],
    [
      'what would make another response',
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
    ['a result without a call', { turns: [user(result({ id: 'x' }))] }, 'functionResponse'],
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
});
