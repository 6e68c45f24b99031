import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Block, GenerationRequest } from '#canonical/index.ts';
import { assistant, call, result, tool, user } from '#test/support/canonical.ts';
import { encode, refused } from '#test/support/messages-encoding.ts';
import { messagesCodec } from '../codec.ts';

describe('max_tokens', () => {
  it('is the client’s, or the model’s limit, or the default, and never above the limit', () => {
    const limit = { maxOutputTokens: 64_000 };
    expect(encode({}).body.max_tokens).toBe(8000);
    expect(encode({}).losses).toEqual([]);
    expect(encode({ maxOutputTokens: null }, limit)).toMatchObject({
      body: { max_tokens: 64_000 },
      losses: [],
    });
    expect(encode({ maxOutputTokens: null })).toMatchObject({
      body: { max_tokens: 8192 },
      losses: ['~max_output_tokens'],
    });
    expect(encode({ maxOutputTokens: 99_000 }, limit)).toMatchObject({
      body: { max_tokens: 64_000 },
      losses: ['~max_output_tokens'],
    });
  });
});

describe('settings', () => {
  it('K46: sends sampling only where it is known to be accepted, and never a temperature', () => {
    const fields = {
      temperature: 1,
      topP: 0.9,
      topK: 5,
      seed: 1,
      presencePenalty: 1,
      frequencyPenalty: 1,
      verbosity: 'low',
      cacheKey: 'k',
    };
    const { body, losses } = encode(fields);
    expect(Object.keys(body)).toEqual(['model', 'max_tokens', 'messages']);
    expect(losses.toSorted()).toEqual([
      '-cache_key',
      '-frequency_penalty',
      '-presence_penalty',
      '-seed',
      '-temperature',
      '-top_k',
      '-top_p',
      '-verbosity',
    ]);
    const sampling = encode(fields, { capabilities: new Set(['sampling', 'reasoning']) });
    expect([sampling.body['top_p'], sampling.body['temperature']]).toEqual([0.9, undefined]);
    const newer = { model: 'claude-opus-4-8', capabilities: new Set(['sampling']) };
    expect(encode(fields, newer).body['top_p']).toBe(undefined);
  });

  it('refuses several choices and log probabilities', () => {
    expect([refused({ choices: 2 }), refused({ logprobs: 0 })]).toEqual(['n', 'logprobs']);
  });

  it('requests JSON in words, and a schema by its member', () => {
    const json = encode({ format: { type: 'json' } });
    expect([json.body.system?.length, json.losses]).toEqual([1, ['~response_format']]);
    const schema = {
      type: 'object',
      properties: {
        minimum: { type: 'integer', minimum: 1 },
        list: { type: 'array', items: { type: 'object', properties: {} } },
      },
    };
    const { body, losses } = encode({
      format: { type: 'schema', name: 'n', description: null, schema, strict: true },
    });
    expect(body.output_config).toEqual({
      format: {
        type: 'json_schema',
        schema: {
          type: 'object',
          properties: {
            minimum: { type: 'integer', description: '(minimum: 1)' },
            list: {
              type: 'array',
              items: { type: 'object', properties: {}, additionalProperties: false },
            },
          },
          additionalProperties: false,
        },
      },
    });
    expect(losses).toEqual(['~response_format.schema']);
  });

  it('keeps own extensions, reports foreign ones, refuses those that the response depends on', () => {
    const extension = { value: 1, ifForeign: 'drop' } as const;
    const { body, losses } = encode({
      stop: ['END', ' ', ''],
      endUser: 'u',
      extensions: [
        { ...extension, protocol: 'messages', name: 'service_tier' },
        { ...extension, protocol: 'messages', name: 'temperature' },
        { ...extension, protocol: 'chat', name: 'logit_bias' },
        { ...extension, protocol: 'chat', name: 'store', ifForeign: 'ignore' },
      ],
    });
    expect(body).toMatchObject({
      service_tier: 1,
      stop_sequences: ['END'],
      metadata: { user_id: 'u' },
    });
    expect(body).not.toHaveProperty('temperature');
    expect(losses).toEqual(['-logit_bias', '-stop']);
    expect(
      refused({
        extensions: [
          {
            ...extension,
            protocol: 'generate-content',
            name: 'cachedContent',
            ifForeign: 'refuse',
          },
        ],
      }),
    ).toBe('cachedContent');
  });
});

describe('reasoning', () => {
  const ask = (fields: object) => ({
    reasoning: { mode: 'on', effort: null, budget: null, show: null, ...fields } as const,
  });
  const thought = (fields: object, model: string, rest: Partial<GenerationRequest> = {}) => {
    const { body, losses } = encode(
      { maxOutputTokens: 64_000, ...ask(fields), ...rest },
      { model },
    );
    return [body.thinking, body.output_config?.['effort'], losses];
  };
  const enabled = (budget: number) => ({ type: 'enabled', budget_tokens: budget });

  it.each<[string, object, unknown, string | undefined, string[]]>([
    ['claude-sonnet-4-5-20250929', { effort: 'low' }, enabled(1024), undefined, []],
    ['anthropic/claude-3.7-sonnet', { effort: 'medium' }, enabled(8192), undefined, []],
    ['claude-haiku-4-5', { effort: 'max' }, enabled(48_000), undefined, []],
    [
      'claude-haiku-4-5',
      { budget: 5000, show: false },
      { ...enabled(5000), display: 'omitted' },
      undefined,
      [],
    ],
    ['claude-haiku-4-5', { budget: 5 }, enabled(1024), undefined, ['~reasoning.budget']],
    ['claude-haiku-4-5', { effort: 'none' }, { type: 'disabled' }, undefined, []],
    ['claude-3-5-haiku-20241022', { effort: 'low' }, undefined, undefined, ['-reasoning']],
    ['kimi-k2', { effort: 'high' }, enabled(24_576), undefined, []],
    [
      'us.anthropic.claude-opus-4-6-v1',
      { effort: 'xhigh' },
      { type: 'adaptive' },
      'high',
      ['~reasoning.effort'],
    ],
    ['claude-opus-4-6', { budget: 5000 }, enabled(5000), undefined, []],
    [
      'claude-opus-4-7',
      { effort: 'xhigh', show: true },
      { type: 'adaptive', display: 'summarized' },
      'xhigh',
      [],
    ],
    ['claude-opus-4-7', { budget: 24_576 }, { type: 'adaptive' }, 'high', ['~reasoning.budget']],
    ['claude-opus-4-7', { budget: -1 }, { type: 'adaptive' }, undefined, []],
    ['claude-sonnet-5', { mode: 'off' }, { type: 'disabled' }, undefined, []],
    ['claude-sonnet-5-5', { mode: 'off' }, { type: 'between_tools' }, undefined, []],
    ['claude-fable-5', { mode: 'off' }, undefined, 'low', ['~reasoning']],
  ])('%s: %j', (model, fields, thinking, effort, losses) => {
    expect(thought(fields, model)).toEqual([thinking, effort, losses]);
  });

  it('K24: keeps the budget between the minimum and max_tokens, or leaves thinking out', () => {
    const efforts = fc.constantFrom('minimal', 'low', 'medium', 'high', 'xhigh', 'max', null);
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 70_000 }),
        efforts,
        fc.option(fc.integer({ min: 1, max: 99_999 }), { nil: null }),
        (maxOutputTokens, effort, budget) => {
          const { body } = encode({ maxOutputTokens, ...ask({ effort, budget }) });
          if (maxOutputTokens <= 1024) expect(body.thinking).toBe(undefined);
          else {
            expect(body.thinking?.budget_tokens).toBeGreaterThanOrEqual(1024);
            expect(body.thinking?.budget_tokens).toBeLessThan(maxOutputTokens);
          }
        },
      ),
    );
  });

  const tools = [tool('get_weather')];
  it('is off if a tool call is required', () => {
    const forced = { tools, toolChoice: { mode: 'required', only: null } } as const;
    expect(thought({ effort: 'low' }, 'claude-sonnet-4-5', forced)).toEqual([
      { type: 'disabled' },
      undefined,
      ['~reasoning'],
    ]);
  });

  it('is off in a tool loop without its thinking, for models with a budget only', () => {
    const state = { protocol: 'messages', kind: 'signature', data: 's' } as const;
    const loop = (...blocks: Block[]) => ({
      tools,
      turns: [user('a'), assistant(...blocks, call()), user(result())],
    });
    const [off, , losses] = thought(
      { effort: 'low' },
      'claude-sonnet-4-5',
      loop({ type: 'reasoning', text: 'x' }),
    );
    expect([off, losses]).toEqual([{ type: 'disabled' }, ['-reasoning', '~reasoning']]);
    const [on] = thought(
      { effort: 'low' },
      'claude-sonnet-4-5',
      loop({ type: 'reasoning', text: 'x', state }),
    );
    expect(on).toEqual(enabled(1024));
    const adaptive = thought({ effort: 'low' }, 'claude-opus-4-7', loop());
    expect(adaptive).toEqual([{ type: 'adaptive' }, 'low', []]);
    const past = { tools, turns: [...loop().turns, assistant('done'), user('next')] };
    expect(thought({ effort: 'low' }, 'claude-sonnet-4-5', past)[0]).toEqual(enabled(1024));
  });

  it('is absent if the client did not request it', () => {
    const { body } = encode({ tools, toolChoice: { mode: 'required', only: null } });
    expect(body.thinking).toBe(undefined);
  });
});

it.each([
  ['stop', 'stop_sequences'],
  ['reasoning.budget', 'thinking.budget_tokens'],
  ['tool.schema', 'tools'],
  ['image.detail', 'messages'],
  ['mcp_servers', 'mcp_servers'],
])('%s is what clients know as %s', (what, name) => {
  expect(messagesCodec.fieldName(what)).toBe(name);
});
