import { describe, expect, it } from 'vitest';
import type { TextProtocolName } from '#canonical/index.ts';
import { GatewayError } from '#errors/index.ts';
import { traitsFor } from '#vendors/index.ts';
import { xai } from '#vendors/xai/index.ts';
import { convert, readWire, type Asked } from '../support/convert.ts';

/** Parts that are encoded differently for vendors of one protocol. */

const openai = { provider: 'openai', model: 'gpt-5.6' };
const olderOpenai = { provider: 'openai', model: 'gpt-5.2' };
const compatible = { provider: 'openai-compatible', model: 'qwen3' };

async function converted(client: TextProtocolName, json: object, target: Asked['target']) {
  const { body, losses } = await convert({ client, request: readWire(client, json), target });
  return {
    json: JSON.parse(String(body)) as Record<string, unknown>,
    lost: losses.map(({ what, how }) => `${how === 'dropped' ? '-' : '~'}${what}`),
  };
}

/** The form in which a vendor receives an end user. */
const hash: unknown = expect.stringMatching(/^[0-9a-f]{32}$/);

const ask = { role: 'user', content: 'hello' };
const toMessages = (more: object) => ({ model: 'm', max_tokens: 100, messages: [ask], ...more });
const toChat = (more: object) => ({ model: 'm', messages: [ask], ...more });
const toGemini = (more: object) => ({
  contents: [{ role: 'user', parts: [{ text: 'hello' }] }],
  ...more,
});

describe('an output limit', () => {
  it.each(['chat', 'responses', 'generate-content'] as const)(
    'above the model’s own is lowered to it, for %s',
    async (protocol) => {
      const { json, lost } = await converted('messages', toMessages({ max_tokens: 64_000 }), {
        protocol,
        maxOutputTokens: 9000,
      });
      expect(JSON.stringify(json)).toMatch(/"max(_output_|_|Output)[tT]okens":9000/);
      expect(lost).toEqual(['~max_output_tokens']);
    },
  );

  it('below it, or without a known one, stays', async () => {
    for (const maxOutputTokens of [100, null]) {
      const target = { protocol: 'chat', maxOutputTokens } as const;
      const { json, lost } = await converted('messages', toMessages({}), target);
      expect([json['max_tokens'], lost]).toEqual([100, []]);
    }
  });
});

describe('JSON mode without the word', () => {
  const config = { generationConfig: { responseMimeType: 'application/json' } };

  it.each(['chat', 'responses'] as const)('gets the word added for %s', async (protocol) => {
    const { json, lost } = await converted('generate-content', toGemini(config), { protocol });
    expect(JSON.stringify(json)).toContain('Answer with one JSON object');
    expect(lost).toEqual(['~response_format']);
  });

  it('does not get the word twice', async () => {
    const contents = [{ role: 'user', parts: [{ text: 'as Json, please' }] }];
    const { json, lost } = await converted(
      'generate-content',
      { ...config, contents },
      { protocol: 'chat' },
    );
    expect(json['messages']).toEqual([{ role: 'user', content: 'as Json, please' }]);
    expect(lost).toEqual([]);
  });
});

describe('a request without thinking', () => {
  const off = toMessages({ thinking: { type: 'disabled' } });
  const sent = async (protocol: TextProtocolName, provider: string, model: string) => {
    const { json, lost } = await converted('messages', off, { protocol, provider, model });
    return [json['reasoning_effort'] ?? json['reasoning'] ?? null, lost];
  };

  it.each([
    ['openai', 'gpt-6.2-sol', 'low', ['~reasoning']],
    ['openai', 'gpt-6.1-sol', 'low', ['~reasoning']],
    ['openai', 'gpt-6-sol', 'none', []],
    ['openai', 'gpt-5.6-luna', 'none', []],
    ['openai', 'gpt-5.1', 'none', []],
    ['openai', 'gpt-5', 'minimal', ['~reasoning']],
    ['openai', 'gpt-5-mini', 'minimal', ['~reasoning']],
    ['openai', 'gpt-5-codex', 'low', ['~reasoning']],
    ['openai', 'gpt-4.1', null, ['~reasoning']],
    ['openai', 'o4-mini', 'low', ['~reasoning']],
    ['openai', 'deployment-7', null, ['~reasoning']],
    ['openai-compatible', 'qwen3', null, ['~reasoning']],
  ])('of %s %s', async (provider, model, effort, lost) => {
    expect(await sent('chat', provider, model)).toEqual([effort, lost]);
    const member = effort === null ? null : { effort };
    expect(await sent('responses', provider, model)).toEqual([member, lost]);
  });
});

describe('an effort', () => {
  const sent = async (protocol: TextProtocolName, model: string, effort: string) => {
    const request = toMessages({ thinking: { type: 'adaptive' }, output_config: { effort } });
    const provider = model === 'qwen3' ? 'openai-compatible' : 'openai';
    const { json, lost } = await converted('messages', request, { protocol, provider, model });
    const { reasoning_effort: inChat, reasoning } = json as {
      reasoning_effort?: string;
      reasoning?: { effort: string };
    };
    return [inChat ?? reasoning?.effort, lost];
  };
  const closest = ['~reasoning.effort'];

  it.each([
    ['gpt-6.1-sol', 'max', 'max', []],
    ['gpt-5.6-terra', 'max', 'max', []],
    ['gpt-5.4', 'max', 'xhigh', closest],
    ['gpt-5.4', 'xhigh', 'xhigh', []],
    ['gpt-5.1', 'xhigh', 'high', closest],
    ['gpt-5.1-codex-max', 'max', 'xhigh', closest],
    ['gpt-5-pro', 'low', 'high', closest],
    ['gpt-5.2-pro', 'max', 'xhigh', closest],
    ['o4-mini', 'max', 'high', closest],
    ['openai/gpt-5.2', 'max', 'xhigh', closest],
    ['ft:o4-mini-2025-04-16:org::id', 'max', 'high', closest],
    ['deployment-7', 'max', 'max', []],
    ['qwen3', 'xhigh', 'high', closest],
  ])('for %s: %s becomes %s', async (model, effort, taken, lost) => {
    expect(await sent('chat', model, effort)).toEqual([taken, lost]);
    expect(await sent('responses', model, effort)).toEqual([taken, lost]);
  });

  it('below those that the model takes becomes its least, and a budget the closest', async () => {
    const { json, lost } = await converted(
      'generate-content',
      toGemini({ generationConfig: { thinkingConfig: { thinkingBudget: 500 } } }),
      { protocol: 'responses', ...olderOpenai },
    );
    expect(json['reasoning']).toEqual({ effort: 'none' });
    expect(lost).toEqual(['~reasoning.budget', '~reasoning.effort']);
  });
});

describe('instructions between the turns', () => {
  const said = (role: string, content: string) => ({ role, content });
  const texts = (...words: string[]) => words.map((text) => ({ type: 'text', text }));
  const sent = async (messages: readonly object[], target: Asked['target']) => {
    const { json, lost } = await converted('messages', toMessages({ messages }), target);
    return [json['messages'] ?? json['input'], lost];
  };
  const middle = [said('user', 'a'), said('system', 'b'), said('user', 'c')];

  it('become the user’s words where they are not known to be taken', async () => {
    expect(await sent(middle, { protocol: 'chat', ...compatible })).toEqual([
      [{ role: 'user', content: texts('a', 'b', 'c') }],
      ['~system'],
    ]);
    const [input, lost] = await sent(middle, { protocol: 'responses', ...compatible });
    expect(input).toMatchObject([{ role: 'user' }]);
    expect(lost).toEqual(['~system']);
  });

  it('stay where they are taken', async () => {
    expect(await sent(middle, { protocol: 'chat', ...olderOpenai })).toEqual([middle, []]);
    const traits = traitsFor(xai, 'grok-4', xai.baseUrl);
    expect(await sent(middle, { protocol: 'chat', traits })).toEqual([middle, []]);
    const [input, lost] = await sent(middle, { protocol: 'responses', ...olderOpenai });
    expect(input).toMatchObject([{ role: 'user' }, { role: 'developer' }, { role: 'user' }]);
    expect(lost).toEqual([]);
  });

  it('between a call and its results follow the results', async () => {
    const call = { type: 'tool_use', id: 'c1', name: 'f', input: {} };
    const result = { type: 'tool_result', tool_use_id: 'c1', content: 'ok' };
    const messages = [
      said('user', 'a'),
      { role: 'assistant', content: [call] },
      said('system', 'b'),
      { role: 'user', content: [result] },
    ];
    const [json, lost] = await sent(messages, { protocol: 'chat', ...compatible });
    expect(json).toMatchObject([
      { role: 'user' },
      { role: 'assistant' },
      { role: 'tool', content: 'ok' },
      { role: 'user', content: 'b' },
    ]);
    expect(lost).toEqual(['~system']);
  });

  it.each([
    ['nothing', { content: '' }, []],
    ['a blank text', { content: ' \n' }, []],
    ['a cache marker', { content: [{ type: 'text', text: '', cache_control: {} }] }, ['-cache']],
    [
      'a block that only instructions have',
      { content: [{ type: 'tool_addition', tool: {} }] },
      ['-messages.tool_addition'],
    ],
    ['a setting', { content: [], effort: 'low' }, ['-messages.effort']],
  ])('with %s are left out', async (_, turn, lost) => {
    const messages = [said('user', 'a'), { role: 'system', ...turn }, said('user', 'c')];
    for (const target of [compatible, olderOpenai]) {
      const [json, told] = await sent(messages, { protocol: 'chat', ...target });
      expect(json).toEqual([{ role: 'user', content: texts('a', 'c') }]);
      expect(told).toEqual(lost);
    }
  });
});

describe('settings that only OpenAI has', () => {
  const json = toChat({
    messages: [
      {
        role: 'user',
        content: [{ type: 'text', text: 'hello', prompt_cache_breakpoint: { mode: 'explicit' } }],
      },
    ],
    prompt_cache_key: 'k',
    safety_identifier: 'u',
    tools: [{ type: 'custom', custom: { name: 'patch', defer_loading: true } }],
  });

  it('go to a Responses upstream of OpenAI', async () => {
    const { json: body, lost } = await converted('chat', json, {
      protocol: 'responses',
      ...openai,
    });
    expect(body).toMatchObject({ prompt_cache_key: 'k', safety_identifier: hash });
    expect(JSON.stringify(body)).toContain('prompt_cache_breakpoint');
    expect(body['tools']).toEqual([{ type: 'custom', name: 'patch' }]);
    expect(lost).toEqual(['-defer_loading']);
  });

  it('go to no other upstream, and the loss is reported', async () => {
    const { json: body, lost } = await converted('chat', json, {
      protocol: 'responses',
      ...compatible,
    });
    expect(JSON.stringify(body)).not.toMatch(/breakpoint|cache_key|safety|custom/);
    expect(body).toMatchObject({ user: hash, tools: [{ type: 'function', name: 'patch' }] });
    expect(lost).toEqual(['-cache', '-cache_key', '-defer_loading', '~tools.custom']);
  });

  it.each(['chat', 'responses'] as const)(
    'cache breakpoints reach %s models that have them',
    async (protocol) => {
      const marked = toMessages({
        system: [{ type: 'text', text: 's', cache_control: { type: 'ephemeral' } }],
      });
      const newer = await converted('messages', marked, { protocol, ...openai });
      expect(JSON.stringify(newer.json)).toMatch(/"text":"s","prompt_cache_breakpoint":\{"mode":/);
      expect(newer.lost).toEqual([]);
      const older = await converted('messages', marked, { protocol, ...olderOpenai });
      expect(JSON.stringify(older.json)).not.toContain('breakpoint');
      expect(older.lost).toEqual(['-cache']);
    },
  );

  it.each(['chat', 'responses'] as const)(
    'the session of a messages client becomes the cache key for %s',
    async (protocol) => {
      const keyOf = async (user: string, target: object) => {
        const asked = toMessages({ metadata: { user_id: user } });
        const { json: body, lost } = await converted('messages', asked, { protocol, ...target });
        expect(lost).toEqual([]);
        return body['prompt_cache_key'];
      };
      const key = await keyOf('session-1', openai);
      expect(key).toEqual(hash);
      expect(await keyOf('session-1', olderOpenai)).toBe(key);
      expect(await keyOf('session-2', openai)).not.toBe(key);
      expect(await keyOf('session-1', compatible)).toBeUndefined();
    },
  );

  const patch = {
    model: 'm',
    input: 'hello',
    text: { verbosity: 'low' },
    tools: [{ type: 'custom', name: 'patch', allowed_callers: ['programmatic'] }],
  };

  it('custom tools and verbosity are kept for OpenAI’s chat', async () => {
    const { json: body, lost } = await converted('responses', patch, {
      protocol: 'chat',
      ...openai,
    });
    expect(body).toMatchObject({ verbosity: 'low', tools: [{ custom: { name: 'patch' } }] });
    expect(lost).toEqual(['-tool.allowed_callers']);
  });

  it('a function stands for a custom tool elsewhere', async () => {
    const { json: body, lost } = await converted('responses', patch, {
      protocol: 'chat',
      ...compatible,
    });
    expect(body).toMatchObject({ tools: [{ type: 'function', function: { name: 'patch' } }] });
    expect(lost).toEqual(['-tool.allowed_callers', '~tools.custom', '-verbosity']);
  });

  it('the meaning of a namespace is lost with it', async () => {
    const tools = [
      {
        type: 'namespace',
        name: 'ns',
        description: 'mine',
        tools: [{ type: 'custom', name: 'a' }],
      },
    ];
    const { lost } = await converted(
      'responses',
      { model: 'm', input: 'x', tools },
      { protocol: 'messages', provider: 'anthropic', model: 'claude-sonnet-4-5' },
    );
    expect(lost).toEqual(['-namespace.description', '~tools.custom', '~tools.namespace']);
  });
});

describe('K17 tools that a vendor runs', () => {
  const own = {
    chat: (name: string) => ({ type: name }),
    responses: (name: string) => ({ type: name }),
    messages: (name: string) => ({ type: `${name}_20250305`, name }),
    'generate-content': (name: string) => ({ [name]: {} }),
  };
  const bodies = {
    chat: toChat,
    responses: (more: object) => ({ model: 'm', input: 'hello', ...more }),
    messages: toMessages,
    'generate-content': toGemini,
  };
  const hosts = new Set(['tools', 'hosted_tools']);
  const models = {
    responses: 'gpt-5.2',
    messages: 'claude-sonnet-4-5',
    'generate-content': 'gemini-3-pro',
  };
  type Upstream = keyof typeof models;

  it.each<[TextProtocolName, string, Upstream, string | null]>([
    ['chat', 'web_search', 'messages', 'web_search_20250305'],
    ['chat', 'web_search', 'responses', '"web_search"'],
    ['responses', 'web_search_preview', 'messages', 'web_search_20250305'],
    ['responses', 'code_interpreter', 'messages', 'code_execution_20250825'],
    ['responses', 'code_interpreter', 'generate-content', 'codeExecution'],
    ['responses', 'web_search', 'generate-content', 'googleSearch'],
    ['responses', 'image_generation', 'messages', null],
    ['messages', 'web_search', 'generate-content', 'googleSearch'],
    ['messages', 'web_fetch', 'generate-content', 'urlContext'],
    ['messages', 'web_fetch', 'responses', null],
    ['messages', 'web_search', 'responses', '"web_search"'],
    ['generate-content', 'googleSearch', 'messages', 'web_search_20250305'],
    ['generate-content', 'urlContext', 'messages', 'web_fetch_20250910'],
    ['generate-content', 'codeExecution', 'responses', 'code_interpreter'],
    ['generate-content', 'googleMaps', 'messages', null],
  ])('%s: %s for %s is %s', async (client, name, upstream, equal) => {
    const json = bodies[client]({ tools: [own[client](name)] });
    const target = { protocol: upstream, model: models[upstream], capabilities: hosts } as const;
    const { json: body, lost } = await converted(client, json, target);
    const told = lost.filter((what) => what.includes('tools.'));
    if (equal === null) expect([body['tools'], told]).toEqual([undefined, [`-tools.${name}`]]);
    else {
      expect(JSON.stringify(body['tools'])).toContain(equal);
      expect(told).toEqual([`~tools.${name}`]);
    }
    const without = { ...target, capabilities: new Set(['tools']) };
    const bare = await converted(client, json, without);
    expect(bare.json['tools']).toBeUndefined();
    expect(bare.lost).toContain(`-tools.${name}`);
  });

  it.each<[Upstream, unknown]>([
    ['messages', { type: 'tool', name: 'web_search' }],
    ['generate-content', null],
  ])('a required one at %s is its own, or refused', async (protocol, choice) => {
    const json = {
      model: 'm',
      input: 'hello',
      tools: [{ type: 'web_search_preview' }, { type: 'function', name: 'f', parameters: {} }],
      tool_choice: { type: 'web_search_preview' },
    };
    const target = { protocol, model: models[protocol], capabilities: hosts };
    const act = converted('responses', json, target);
    if (choice === null) {
      await expect(act).rejects.toBeInstanceOf(GatewayError);
      await expect(act).rejects.toMatchObject({ param: 'tool_choice' });
    } else expect((await act).json['tool_choice']).toEqual(choice);
  });

  it('beside functions, the newest models are asked for a trace of them', async () => {
    const json = {
      model: 'm',
      input: 'hello',
      tools: [{ type: 'web_search' }, { type: 'function', name: 'f', parameters: {} }],
    };
    const target = {
      protocol: 'generate-content',
      provider: 'gemini',
      capabilities: hosts,
    } as const;
    const newest = await converted('responses', json, {
      ...target,
      model: 'gemini-3.1-pro-preview',
    });
    expect(newest.json['toolConfig']).toEqual({
      functionCallingConfig: { mode: 'VALIDATED' },
      includeServerSideToolInvocations: true,
    });
    const alone = await converted(
      'responses',
      { ...json, tools: [{ type: 'web_search' }] },
      { ...target, model: 'gemini-3.1-pro-preview' },
    );
    expect(alone.json).not.toHaveProperty('toolConfig');
    const earlier = await converted('responses', json, { ...target, model: 'gemini-2.5-pro' });
    expect(earlier.json).not.toHaveProperty('toolConfig');
  });

  it('a client function of the same name stays', async () => {
    const json = toGemini({
      tools: [{ functionDeclarations: [{ name: 'web_search' }] }, { googleSearch: {} }],
    });
    const target = {
      protocol: 'messages',
      model: 'claude-sonnet-4-5',
      capabilities: hosts,
    } as const;
    const { json: body, lost } = await converted('generate-content', json, target);
    expect(body['tools']).toMatchObject([{ name: 'web_search', input_schema: {} }]);
    expect(lost).toContain('-tools.googleSearch');
  });

  it('models that are made for it search in chat', async () => {
    const json = { model: 'm', input: 'hello', tools: [{ type: 'web_search' }] };
    const target = { protocol: 'chat', provider: 'openai', capabilities: hosts } as const;
    const search = await converted('responses', json, {
      ...target,
      model: 'gpt-4o-search-preview',
    });
    expect(search.json).toMatchObject({ web_search_options: {} });
    expect(search.lost).toEqual(['~tools.web_search']);
    const other = await converted('responses', json, { ...target, model: 'gpt-5.2' });
    expect(other.json).not.toHaveProperty('web_search_options');
    expect(other.lost).toEqual(['-tools.web_search']);
  });

  it('their traces are not sent to another vendor', async () => {
    const messages = [
      ask,
      {
        role: 'assistant',
        content: [
          { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} },
          { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] },
          { type: 'text', text: 'found' },
        ],
      },
      ask,
    ];
    for (const protocol of ['chat', 'responses', 'generate-content'] as const) {
      const { json } = await converted('messages', toMessages({ messages }), {
        protocol,
        capabilities: hosts,
      });
      expect(JSON.stringify(json)).toContain('found');
      expect(JSON.stringify(json)).not.toContain('srvtoolu');
    }
  });
});

describe('the end user', () => {
  const claudeCode = `user_${'a'.repeat(64)}_account__session_${'b'.repeat(36)}`;

  it.each([
    ['safety_identifier', { protocol: 'chat', ...openai }],
    ['user', { protocol: 'chat', ...compatible }],
    ['safety_identifier', { protocol: 'responses', ...openai }],
  ] as const)('is a hash that fits %s', async (member, target) => {
    const request = toMessages({ metadata: { user_id: claudeCode } });
    const { json } = await converted('messages', request, target);
    expect(json[member]).toEqual(hash);
  });

  it('is the same in every protocol, and not an address', async () => {
    const target = {
      protocol: 'messages',
      provider: 'anthropic',
      model: 'claude-opus-4-6',
    } as const;
    const users = [];
    for (const named of [{ user: 'bob@example.com' }, { safety_identifier: 'bob@example.com' }]) {
      const { json, lost } = await converted('chat', toChat(named), target);
      users.push([json['metadata'], lost]);
    }
    expect(users[0]).toEqual([{ user_id: hash }, []]);
    expect(users[1]).toEqual(users[0]);
  });
});

describe('an object with any names', () => {
  const map = { type: 'object', additionalProperties: { type: 'number' } };
  const json = {
    model: 'm',
    input: 'hello',
    tools: [{ type: 'function', name: 'f', parameters: map, strict: false }],
    text: { format: { type: 'json_schema', name: 'x', schema: map } },
  };
  const ask = (model: string) =>
    converted('responses', json, { protocol: 'generate-content', provider: 'gemini', model });

  it('goes to newer Gemini models as JSON Schema', async () => {
    const { json: body, lost } = await ask('gemini-3.1-pro-preview');
    expect(body).toMatchObject({
      tools: [{ functionDeclarations: [{ name: 'f', parametersJsonSchema: map }] }],
      generationConfig: { responseJsonSchema: map },
    });
    expect(lost).toEqual([]);
  });

  it('is reported for any other model', async () => {
    const { json: body, lost } = await ask('gemini-2.0-flash');
    expect(JSON.stringify(body)).not.toContain('JsonSchema');
    expect(lost).toContain('~tool.schema');
  });
});

describe('the wishes of a search', () => {
  const place = { type: 'approximate', city: 'Paris', country: 'FR' };
  const domains = ['example.com'];
  const ask = (client: TextProtocolName, json: object, target: Asked['target']) =>
    converted(client, json, { capabilities: new Set(['hosted_tools']), ...target });

  it('of Responses go to Messages', async () => {
    const tool = {
      type: 'web_search',
      filters: { allowed_domains: domains },
      user_location: place,
      search_context_size: 'low',
    };
    const { json, lost } = await ask(
      'responses',
      { model: 'm', input: 'hello', tools: [tool] },
      { protocol: 'messages', model: 'claude-sonnet-4-5' },
    );
    expect(json['tools']).toEqual([
      {
        type: 'web_search_20250305',
        name: 'web_search',
        allowed_domains: domains,
        user_location: place,
      },
    ]);
    expect(lost).toEqual(['~tools.web_search', '-tools.web_search.search_context_size']);
  });

  it('of Messages go to Responses and chat as far as they can', async () => {
    const tool = {
      type: 'web_search_20250305',
      name: 'web_search',
      allowed_domains: domains,
      max_uses: 2,
      user_location: place,
    };
    const json = toMessages({ tools: [tool] });
    const toResponses = await ask('messages', json, { protocol: 'responses', ...openai });
    expect(toResponses.json['tools']).toEqual([
      { type: 'web_search', filters: { allowed_domains: domains }, user_location: place },
    ]);
    expect(toResponses.lost).toContain('-tools.web_search.max_uses');
    const search = {
      protocol: 'chat',
      provider: 'openai',
      model: 'gpt-4o-search-preview',
    } as const;
    const toChat = await ask('messages', json, search);
    expect(toChat.json['web_search_options']).toEqual({
      user_location: { type: 'approximate', approximate: { city: 'Paris', country: 'FR' } },
    });
    expect(toChat.lost).toEqual(
      expect.arrayContaining(['-tools.web_search.allowed_domains', '-tools.web_search.max_uses']),
    );
  });

  it('for the vendor’s own copies of pages are named: no other vendor has them', async () => {
    const tool = { type: 'web_search', external_web_access: false };
    const { lost } = await ask(
      'responses',
      { model: 'm', input: 'hello', tools: [tool] },
      { protocol: 'messages', model: 'claude-sonnet-4-5' },
    );
    expect(lost).toEqual(['~tools.web_search', '-tools.web_search.external_web_access']);
  });

  it('are named one by one where Gemini has no member for them', async () => {
    const tool = { type: 'web_search_20250305', name: 'web_search', blocked_domains: domains };
    const { json, lost } = await ask('messages', toMessages({ tools: [tool] }), {
      protocol: 'generate-content',
      provider: 'gemini',
      model: 'gemini-3.1-pro-preview',
    });
    expect(json['tools']).toEqual([{ googleSearch: {} }]);
    expect(lost).toEqual(['~tools.web_search', '-tools.web_search.blocked_domains']);
  });
});

describe('the wishes of other hosted tools', () => {
  const gemini = {
    protocol: 'generate-content',
    model: 'gemini-3-pro',
    capabilities: new Set(['hosted_tools']),
  } as const;
  const interpreter = (container: unknown) => ({
    model: 'm',
    input: 'hello',
    tools: [{ type: 'code_interpreter', container }],
  });

  it('of a fetch are named one by one', async () => {
    const tool = {
      type: 'web_fetch_20250910',
      name: 'web_fetch',
      allowed_domains: ['example.com'],
      citations: { enabled: true },
    };
    const { json, lost } = await converted('messages', toMessages({ tools: [tool] }), gemini);
    expect(json['tools']).toEqual([{ urlContext: {} }]);
    expect(lost).toEqual([
      '~tools.web_fetch',
      '-tools.web_fetch.allowed_domains',
      '-tools.web_fetch.citations',
    ]);
  });

  it('of a container are named one by one', async () => {
    const container = { type: 'auto', memory_limit: '4g' };
    const { json, lost } = await converted('responses', interpreter(container), gemini);
    expect(json['tools']).toEqual([{ codeExecution: {} }]);
    expect(lost).toEqual(['~tools.code_interpreter', '-tools.code_interpreter.memory_limit']);
  });

  it('cannot be that a container of another vendor is used', async () => {
    const asked = converted('responses', interpreter('cntr_1'), gemini);
    await expect(asked).rejects.toThrow("another vendor's container");
  });
});
