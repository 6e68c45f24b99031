import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Block, type GenerationRequest, Unconvertible } from '#canonical/index.ts';
import { assistant, call, requestOf, result, tool, user } from '#test/support/canonical.ts';
import { target } from '#test/support/messages-samples.ts';
import type { EncodeTarget } from '../../../codec.ts';
import { messagesCodec } from '../codec.ts';

interface Body {
  readonly max_tokens: number;
  readonly system?: readonly Record<string, unknown>[];
  readonly messages: readonly { role: string; content: Record<string, unknown>[] }[];
  readonly tools?: readonly Record<string, unknown>[];
  readonly tool_choice?: unknown;
  readonly thinking?: { type: string; budget_tokens?: number };
  readonly output_config?: Record<string, unknown>;
  readonly [name: string]: unknown;
}

const encode = (fields: Partial<GenerationRequest>, at: Partial<EncodeTarget> = {}) => {
  const { json, losses } = messagesCodec.encodeRequest(
    requestOf({ maxOutputTokens: 8000, ...fields }),
    {
      ...target,
      capabilities: new Set(),
      ...at,
    },
  );
  const told = losses.map(({ what, how }) => `${how === 'dropped' ? '-' : '~'}${what}`);
  return { body: json as unknown as Body, losses: told };
};

const refused = (fields: Partial<GenerationRequest>): string => {
  try {
    encode(fields);
  } catch (error) {
    if (error instanceof Unconvertible) return error.what;
    throw error;
  }
  return 'encoded';
};

const text = (value: string) => ({ type: 'text', text: value });
const image: Block = { type: 'image', source: { kind: 'data', mime: 'image/png', base64: 'AAAA' } };

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

describe('instructions between the turns', () => {
  const system = (...blocks: Block[]) => ({ role: 'system' as const, blocks });
  const said = { type: 'text', text: 'be quick' } as const;
  const newer = { model: 'claude-opus-4-8' };
  const rolesOf = (fields: Partial<GenerationRequest>, at: Partial<EncodeTarget> = newer) => {
    const { body, losses } = encode(fields, at);
    return [body.messages.map(({ role }) => role).join(' '), losses];
  };

  it('stay instructions for a model that accepts them, where it accepts them', () => {
    const before = [user('one'), system(said), system(said), assistant(text('x') as Block)];
    const turns = [...before, user('two'), system(said)];
    expect(rolesOf({ turns })).toEqual(['user system assistant user system', []]);
    expect(encode({ turns }, newer).body.messages[1]).toEqual({
      role: 'system',
      content: [said, said],
    });
  });

  it.each([
    ['before the user', [user('one'), system(said), user('two')], 'user'],
    [
      'behind the model',
      [user('one'), assistant(text('x') as Block), system(said), user('two')],
      'user assistant user',
    ],
    ['with more than text', [user('one'), system(said, image)], 'user'],
  ])('%s they are said by the user', (_, turns, roles) => {
    expect(rolesOf({ turns })).toEqual([roles, ['~system']]);
  });

  it('become the user’s words for older and for other models', () => {
    const turns = [user('one'), system(said)];
    for (const model of ['claude-opus-4-6', 'demo-chat']) {
      expect(rolesOf({ turns }, { model })).toEqual(['user', ['~system']]);
    }
  });
});

describe('the conversation', () => {
  it('alternates, results first and in the order of the calls', () => {
    const { body, losses } = encode({
      turns: [
        user('one'),
        user('two'),
        assistant(call({ id: 'a' }), 'said after'),
        assistant(call({ id: 'b' })),
        user('meanwhile', result({ id: 'b' })),
        user(result({ id: 'a', content: [], isError: true })),
        { role: 'system', blocks: [{ type: 'text', text: 'be quick' }] },
      ],
    });
    expect(losses).toEqual(['~system']);
    expect(body.messages).toEqual([
      { role: 'user', content: [text('one'), text('two')] },
      {
        role: 'assistant',
        content: [
          text('said after'),
          { type: 'tool_use', id: 'a', name: 'get_weather', input: {} },
          { type: 'tool_use', id: 'b', name: 'get_weather', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'a', is_error: true },
          { type: 'tool_result', tool_use_id: 'b', content: [text('sunny')] },
          text('meanwhile'),
          text('be quick'),
        ],
      },
    ]);
  });

  it('has no empty texts, and keeps their markers', () => {
    const cache = { ttl: null };
    const { body } = encode({
      system: [
        { type: 'text', text: 's' },
        { type: 'text', text: ' ', cache },
      ],
      turns: [user('a', { type: 'text', text: '\n', cache }, ''), assistant(''), user('b')],
    });
    const marked = (value: string) => ({ ...text(value), cache_control: { type: 'ephemeral' } });
    expect(body.system).toEqual([marked('s')]);
    expect(body.messages).toEqual([{ role: 'user', content: [marked('a'), text('b')] }]);
  });

  it('begins with the user, and is not empty', () => {
    expect(encode({ turns: [assistant('a'), user('b')] })).toMatchObject({
      body: { messages: [{ role: 'user', content: [text('(conversation continues)')] }, {}, {}] },
      losses: ['~messages'],
    });
    expect(refused({ turns: [] })).toBe('messages');
  });

  it('ends as the model requires', () => {
    const turns = [user('a'), assistant('so ')];
    expect(encode({ turns }).body.messages.at(-1)?.content).toEqual([text('so')]);
    const newer = encode({ turns }, { model: 'claude-opus-4-7' });
    expect(newer.body.messages.at(-1)?.content).toEqual([text('Continue.')]);
    expect(newer.losses).toEqual(['~messages']);
    expect(encode({ turns: [user('a'), assistant('b', call())] })).toMatchObject({
      body: { messages: [{}, { content: [text('b')] }] },
      losses: ['-tool_call'],
    });
  });

  it('shows the model’s own images in the user’s next message', () => {
    const { body, losses } = encode({
      turns: [user('draw'), assistant('here', image), user('bigger')],
    });
    expect(body.messages.map(({ content }) => content.map(({ type }) => type))).toEqual([
      ['text'],
      ['text'],
      ['image', 'text'],
    ]);
    expect(losses).toEqual(['~image']);
  });
});

describe('blocks', () => {
  it.each<[string, Block]>([
    ['image', { type: 'image', source: { kind: 'data', mime: 'image/tiff', base64: 'AAAA' } }],
    ['file', { type: 'file', source: { kind: 'data', mime: 'text/csv', base64: 'AAAA' } }],
    ['file_id', { type: 'image', source: { kind: 'file-id', protocol: 'responses', id: 'x' } }],
    ['audio', { type: 'audio', source: { kind: 'data', mime: 'audio/wav', base64: 'AAAA' } }],
    ['video', { type: 'video', source: { kind: 'url', url: 'https://a.example', mime: null } }],
    ['thing', { type: 'opaque', protocol: 'chat', name: 'thing', value: {}, ifForeign: 'refuse' }],
  ])('refuses %s', (what, block) => {
    expect(refused({ turns: [user(block)] })).toBe(what);
  });

  it('report their losses', () => {
    const opaque = { type: 'opaque', protocol: 'chat', value: {} } as const;
    const { losses } = encode({
      turns: [
        user(
          'a',
          { ...image, detail: 'low' },
          { ...opaque, name: 'x', ifForeign: 'drop' },
          { ...opaque, name: 'y', ifForeign: 'ignore' },
        ),
        assistant(
          { ...opaque, name: 'z', ifForeign: 'drop', text: 'said' },
          { type: 'reasoning', text: 'hm' },
        ),
        user('b'),
      ],
    });
    expect(losses).toEqual(['-image.detail', '-x', '~z', '-reasoning']);
  });

  it('K22, K23: return the model’s own thinking untouched and drop foreign reasoning', () => {
    const signature = { protocol: 'messages', kind: 'signature', data: 'Ep/+=\n' } as const;
    const { body } = encode({
      turns: [
        user('a'),
        assistant(
          { type: 'reasoning', text: ' \u00e9\\n\n ', state: signature },
          { type: 'reasoning', text: '', state: { ...signature, kind: 'redacted' } },
          { type: 'reasoning', text: 'x', state: { ...signature, kind: 'envelope' } },
          {
            type: 'reasoning',
            text: 'y',
            state: { protocol: 'responses', kind: 'encrypted', data: 'e' },
          },
          'b',
        ),
        user('c'),
      ],
    });
    expect(body.messages[1]?.content).toEqual([
      { type: 'thinking', thinking: ' \u00e9\\n\n ', signature: 'Ep/+=\n' },
      { type: 'redacted_thinking', data: 'Ep/+=\n' },
      text('b'),
    ]);
  });

  it.each([
    ['', {}, []],
    ['null', {}, []],
    ['{"b":1,"a":[]}', { b: 1, a: [] }, []],
    ['[1]', { value: [1] }, ['~tool_call.arguments']],
    ['{"a":', { raw_arguments: '{"a":' }, ['~tool_call.arguments']],
  ])('makes an object of the arguments %j', (given, input, losses) => {
    const turns = [user('a'), assistant(call({ arguments: given })), user(result())];
    expect(encode({ turns })).toMatchObject({
      body: { messages: [{}, { content: [{ input }] }, {}] },
      losses,
    });
  });

  it('turn a result that is an object into words', () => {
    const results = [{ output: 'plain' }, { result: 7 }, { a: 1, b: 2 }].map((object, index) =>
      result({ id: `c${index}`, content: [], object }),
    );
    const calls = results.map(({ id }) => call({ id }));
    const { body } = encode({ turns: [user('a'), assistant(...calls), user(...results)] });
    expect(body.messages[2]?.content.map(({ content }) => content)).toEqual([
      [text('plain')],
      [text('{"result":7}')],
      [text('{"a":1,"b":2}')],
    ]);
  });
});

describe('tools', () => {
  it('K17, K18: are functions with an object as schema, or are not sent', () => {
    const { body, losses } = encode({
      tools: [
        tool('none'),
        { ...tool('bare'), schema: { type: 'object' } },
        {
          ...tool('union'),
          schema: { anyOf: [{ properties: { a: {} } }, { properties: { b: {} } }], $defs: {} },
        },
        {
          type: 'hosted',
          kind: 'web-search',
          protocol: 'responses',
          name: 'web_search',
          value: { type: 'web_search' },
        },
      ],
    });
    expect(body.tools).toEqual([
      { name: 'none', input_schema: { type: 'object', properties: {} } },
      { name: 'bare', input_schema: { type: 'object', properties: {} } },
      { name: 'union', input_schema: { $defs: {}, type: 'object', properties: { a: {}, b: {} } } },
    ]);
    expect(losses).toEqual(['~tool.schema', '-tools.web_search']);
  });

  it('are strict with a schema that the upstream can enforce', () => {
    const schema = {
      type: 'object',
      properties: { a: { type: 'integer', minimum: 1 }, b: { type: 'object', properties: {} } },
      required: ['a'],
    };
    const { body, losses } = encode({
      tools: [
        { ...tool('held'), schema, strict: true },
        { ...tool('free'), schema, strict: false },
      ],
    });
    expect(body.tools).toEqual([
      {
        name: 'held',
        input_schema: {
          ...schema,
          properties: {
            a: { type: 'integer', description: '(minimum: 1)' },
            b: { type: 'object', properties: {}, additionalProperties: false },
          },
          additionalProperties: false,
        },
        strict: true,
      },
      { name: 'free', input_schema: schema, strict: false },
    ]);
    expect(losses).toEqual(['~tool.schema']);
  });

  const tools = [tool('f'), tool('g')];
  it.each<[Partial<GenerationRequest>, unknown]>([
    [
      { tools, parallelTools: false },
      { type: 'auto', disable_parallel_tool_use: true },
    ],
    [
      { tools, parallelTools: false, toolChoice: { mode: 'required', only: null } },
      { type: 'any', disable_parallel_tool_use: true },
    ],
    [
      { tools, toolChoice: { mode: 'required', only: ['f'] } },
      { type: 'tool', name: 'f' },
    ],
    [{ tools, toolChoice: { mode: 'none', only: null } }, { type: 'none' }],
    [{ tools, parallelTools: true }, undefined],
    [{ toolChoice: { mode: 'auto', only: null } }, undefined],
  ])('K14: are chosen as %j says', (fields, choice) => {
    expect(encode(fields).body.tool_choice).toEqual(choice);
  });

  it('outside the allowed subset are not sent', () => {
    const { body, losses } = encode({
      tools: [...tools, tool('h')],
      toolChoice: { mode: 'auto', only: ['f', 'h'] },
    });
    expect(body.tools?.map(({ name }) => name)).toEqual(['f', 'h']);
    expect(losses).toEqual(['~tool_choice']);
  });

  it('that are required must be present', () => {
    expect(refused({ tools, toolChoice: { mode: 'required', only: ['x'] } })).toBe('tool_choice');
  });
});

describe('K47: cache markers', () => {
  const cache = { ttl: null };
  const marked = (value: string, ttl: string | null = null): Block => ({
    type: 'text',
    text: value,
    cache: { ttl },
  });
  const places = (body: Body): unknown[] =>
    [
      ...(body.tools ?? []),
      ...(body.system ?? []),
      ...body.messages.flatMap(({ content }) => content),
    ]
      .filter(({ cache_control: marker }) => marker !== undefined)
      .map((block) => block['name'] ?? block['text']);

  it('are at most four: the last of the tools and of the system prompt, and the latest', () => {
    const { body, losses } = encode({
      tools: [
        { ...tool('f'), cache },
        { ...tool('g'), cache },
      ],
      system: [{ type: 'text', text: 's', cache }],
      turns: [user(marked('a'), marked('b')), assistant('x'), user(marked('c'))],
    });
    expect(places(body)).toEqual(['g', 's', 'b', 'c']);
    expect(losses).toEqual(['-cache']);
  });

  it('never have a long-lived one after a short-lived one, and unknown lifetimes are the default', () => {
    const { body } = encode({
      turns: [user(marked('a', '1h'), marked('b', '30m'), marked('c', '1h'))],
    });
    expect(body.messages[0]?.content.map((block) => block['cache_control'])).toEqual([
      { type: 'ephemeral', ttl: '1h' },
      { type: 'ephemeral' },
      { type: 'ephemeral' },
    ]);
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
    expect(losses).toEqual(['-stop', '-logit_bias']);
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
