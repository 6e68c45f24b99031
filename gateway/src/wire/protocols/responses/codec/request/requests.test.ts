import { describe, expect, it } from 'vitest';
import { type GenerationRequest, Unconvertible } from '#canonical/index.ts';
import { decodeBody, encodeBody } from '#test/support/responses-codec.ts';
import { bareRequest } from '#test/support/responses-samples.ts';

const pixel = 'data:image/png;base64,aGVsbG8=';
const decodeInput = (...input: readonly object[]) => decodeBody({ model: 'm', input });
const userTurn = (...blocks: GenerationRequest['turns'][number]['blocks']): GenerationRequest => ({
  ...bareRequest,
  turns: [{ role: 'user', blocks }],
});

describe('responses: decoding a request', () => {
  it('a text becomes one user message', () => {
    const { turns } = decodeBody({ model: 'm', input: 'Hi' });
    expect(turns).toEqual([{ role: 'user', blocks: [{ type: 'text', text: 'Hi' }] }]);
  });

  it('instructions and leading developer messages are the system prompt, later ones stay', () => {
    const { system, turns } = decodeBody({
      model: 'm',
      instructions: 'one',
      input: [
        { role: 'developer', content: [{ type: 'input_text', text: 'two' }] },
        { role: 'system', content: 'three' },
        { role: 'user', content: 'Hi' },
        { role: 'developer', content: 'later' },
      ],
    });
    expect(system.map(({ text }) => text)).toEqual(['one', 'two', 'three']);
    expect(turns.map(({ role }) => role)).toEqual(['user', 'system']);
  });

  it('adjacent items of one speaker are one turn, in their order', () => {
    const { turns } = decodeInput(
      { role: 'user', content: 'Hi' },
      { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'blob', content: null },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Wait' }] },
      { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{"a": 1}', namespace: 'ns' },
      { type: 'custom_tool_call', call_id: 'c2', name: 'apply_patch', input: '*** Begin' },
      { type: 'function_call_output', call_id: 'c1', output: 'ok' },
      {
        type: 'custom_tool_call_output',
        call_id: 'c2',
        output: [
          { type: 'input_text', text: 'done' },
          { type: 'input_image', image_url: pixel },
        ],
      },
      { role: 'user', content: 'Go on' },
    );
    expect(turns.map(({ role, blocks }) => [role, blocks.map(({ type }) => type)])).toEqual([
      ['user', ['text']],
      ['assistant', ['reasoning', 'text', 'tool-call', 'tool-call']],
      ['user', ['tool-result', 'tool-result', 'text']],
    ]);
    expect(turns[1]?.blocks[0]).toEqual({
      type: 'reasoning',
      text: '',
      state: { protocol: 'responses', kind: 'encrypted', data: 'blob', id: 'rs_1' },
    });
    expect(turns[1]?.blocks[2]).toMatchObject({ namespace: 'ns', arguments: '{"a": 1}' });
    expect(turns[2]?.blocks[1]).toMatchObject({ id: 'c2', kind: 'custom', isError: false });
  });

  it('images and files are read in every place', () => {
    const { turns } = decodeInput({
      role: 'user',
      content: [
        { type: 'input_image', detail: 'auto', image_url: pixel },
        { type: 'input_image', detail: 'low', image_url: 'https://example.com/a.png' },
        { type: 'input_image', file_id: 'file-1' },
        { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,aGk=' },
        { type: 'input_file', file_url: 'https://example.com/a.pdf' },
        { type: 'input_text', text: 'x', prompt_cache_breakpoint: { mode: 'explicit' } },
      ],
    });
    const data = { kind: 'data', mime: 'image/png', base64: 'aGVsbG8=' };
    expect(turns[0]?.blocks).toEqual([
      { type: 'image', source: data },
      {
        type: 'image',
        source: { kind: 'url', url: 'https://example.com/a.png', mime: null },
        detail: 'low',
      },
      { type: 'image', source: { kind: 'file-id', protocol: 'responses', id: 'file-1' } },
      {
        type: 'file',
        source: { kind: 'data', mime: 'application/pdf', base64: 'aGk=' },
        filename: 'a.pdf',
      },
      { type: 'file', source: { kind: 'url', url: 'https://example.com/a.pdf', mime: null } },
      { type: 'text', text: 'x', cache: { ttl: null } },
    ]);
  });

  it.each([
    ['input.1.role', { role: 'tool', content: 'x' }],
    ['input.1.content.0.image_url', image('data:image/png;base64,***')],
    ['input.1.content.0.image_url', image('data:image/png,hell%')],
    ['input.1.content.0.image_url', image('ftp://example.com/a.png')],
    ['input.1.content.0', { role: 'user', content: [{ type: 'input_image' }] }],
    ['input.1.call_id', { type: 'function_call', name: 'f', arguments: '{}' }],
    ['input.1.arguments', { type: 'function_call', call_id: 'c', name: 'f' }],
  ])('what has no meaning is refused by its place: %s', (param, item) => {
    const decode = () => decodeInput({ role: 'user', content: 'Hi' }, item);
    expect(decode).toThrow(expect.objectContaining({ errorName: 'invalid_value', param }));
  });

  it.each(['previous_response_id', 'conversation', 'prompt'])('%s needs the provider', (name) => {
    const { extensions } = decodeBody({ model: 'm', input: 'Hi', [name]: { id: 'x' } });
    expect(extensions).toMatchObject([{ protocol: 'responses', name, ifForeign: 'refuse' }]);
    expect(decodeBody({ model: 'm', input: 'Hi', [name]: null }).extensions).toEqual([]);
  });

  it('members without an equivalent declare what their loss means', () => {
    const { extensions } = decodeBody({
      model: 'm',
      input: 'Hi',
      stream: true,
      background: true,
      store: true,
      truncation: 'auto',
      max_tool_calls: 3,
      metadata: { a: 'b' },
      client_metadata: {},
      x_unknown: 1,
    });
    expect(Object.fromEntries(extensions.map((entry) => [entry.name, entry.ifForeign]))).toEqual({
      background: 'refuse',
      store: 'drop',
      truncation: 'drop',
      max_tool_calls: 'drop',
      metadata: 'ignore',
      client_metadata: 'ignore',
      x_unknown: 'drop',
    });
    const calm = { background: false, store: false, truncation: 'disabled' };
    for (const { ifForeign } of decodeBody({ model: 'm', input: 'Hi', ...calm }).extensions) {
      expect(ifForeign).toBe('ignore');
    }
  });

  it.each(['item_reference', 'compaction', 'compaction_trigger'])('%s is refused', (type) => {
    const { turns } = decodeInput({ role: 'user', content: 'Hi' }, { type, id: 'x' });
    expect(turns[0]?.blocks[1]).toMatchObject({ type: 'opaque', name: type, ifForeign: 'refuse' });
  });

  it('tools that a search found are there once', () => {
    const tool = (name: string) => ({ type: 'function', name, parameters: { type: 'object' } });
    const found = (...tools: object[]) => ({ type: 'tool_search_output', call_id: 'c', tools });
    const space = { type: 'namespace', name: 'ns', tools: [tool('a')] };
    const { tools } = decodeBody({
      model: 'm',
      tools: [tool('a')],
      input: [found(tool('a'), tool('b'), space), found(tool('b'), space)],
    });
    expect(tools.map((each) => [each.type !== 'hosted' && each.namespace, each.name])).toEqual([
      [undefined, 'a'],
      [undefined, 'b'],
      ['ns', 'a'],
    ]);
  });

  it('traces of hosted tools can be dropped', () => {
    const { turns } = decodeInput({ role: 'user', content: 'Hi' }, { type: 'web_search_call' });
    expect(turns[1]).toMatchObject({ role: 'assistant', blocks: [{ ifForeign: 'drop' }] });
  });

  it('a request of Codex is read: custom and namespaced tools, its settings', () => {
    const decoded = decodeBody({
      model: 'm',
      stream: true,
      input: [
        { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'Be' }] },
      ],
      tools: [
        { type: 'function', name: 'shell', strict: false, parameters: { type: 'object' } },
        {
          type: 'custom',
          name: 'apply_patch',
          description: 'Edit',
          format: { type: 'grammar', syntax: 'lark', definition: 'start: x' },
        },
        {
          type: 'namespace',
          name: 'mcp__db',
          description: 'Databases',
          tools: [{ type: 'function', name: 'query', parameters: null }],
        },
        { type: 'web_search', external_web_access: false },
        { type: 'tool_search', execution: 'client' },
      ],
      tool_choice: 'auto',
      parallel_tool_calls: false,
      reasoning: { effort: 'high', summary: 'auto' },
      text: { verbosity: 'low' },
      include: ['reasoning.encrypted_content'],
      prompt_cache_key: 'thread',
      store: false,
      client_metadata: { a: 'b' },
    });
    expect(decoded.tools).toMatchObject([
      { type: 'function', name: 'shell', strict: false },
      { type: 'custom', grammar: { syntax: 'lark', definition: 'start: x' } },
      { type: 'function', name: 'query', namespace: 'mcp__db', schema: null, strict: null },
      { type: 'hosted', kind: 'web-search', name: 'web_search' },
      { type: 'hosted', kind: 'other', name: 'tool_search' },
    ]);
    expect(decoded).toMatchObject({
      toolChoice: { mode: 'auto', only: null },
      parallelTools: false,
      reasoning: { mode: 'on', effort: 'high', budget: null, show: true },
      verbosity: 'low',
      cacheKey: 'thread',
      logprobs: null,
    });
    expect(decoded.extensions.every(({ ifForeign }) => ifForeign === 'ignore')).toBe(true);
    expect(encodeBody(decoded).json['tools']).toMatchObject([
      { name: 'shell' },
      { type: 'custom', format: { type: 'grammar' } },
      { type: 'namespace', name: 'mcp__db', description: 'Databases', tools: [{ name: 'query' }] },
      { type: 'web_search', external_web_access: false },
      { type: 'tool_search', execution: 'client' },
    ]);
  });

  it.each([
    [
      { type: 'function', name: 'f' },
      { mode: 'required', only: ['f'] },
    ],
    [
      { type: 'custom', name: 'p' },
      { mode: 'required', only: ['p'] },
    ],
    [{ type: 'web_search' }, { mode: 'required', only: ['web_search'] }],
    ['required', { mode: 'required', only: null }],
    [
      { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'f' }] },
      { mode: 'auto', only: ['f'] },
    ],
  ])('the choice of a tool: %j', (written, expected) => {
    const tools = [
      { type: 'function', name: 'f' },
      { type: 'custom', name: 'p' },
      { type: 'web_search' },
    ];
    const decoded = decodeBody({ model: 'm', input: 'Hi', tools, tool_choice: written });
    expect(decoded.toolChoice).toEqual(expected);
    expect(encodeBody(decoded).json['tool_choice']).toEqual(written);
  });

  it('`include` requests log probabilities', () => {
    const include = ['message.output_text.logprobs'];
    expect(decodeBody({ model: 'm', input: 'Hi', include, top_logprobs: 3 }).logprobs).toBe(3);
    expect(decodeBody({ model: 'm', input: 'Hi', include }).logprobs).toBe(0);
    expect(decodeBody({ model: 'm', input: 'Hi', top_logprobs: 3 }).logprobs).toBeNull();
  });
});

describe('responses: a request for an upstream', () => {
  it('nothing is stored, and state is requested only where there is reasoning', () => {
    const on = { mode: 'on', effort: 'low', budget: null, show: null } as const;
    expect(encodeBody(bareRequest).json).toMatchObject({ model: 'gpt-5.6', store: false });
    expect(encodeBody(bareRequest).json['include']).toBeUndefined();
    const include = ['reasoning.encrypted_content'];
    expect(encodeBody({ ...bareRequest, reasoning: on }).json).toMatchObject({ include });
    const capable = { capabilities: new Set(['reasoning']) };
    expect(encodeBody(bareRequest, capable).json).toMatchObject({ include });
    const plain = { capabilities: new Set(['vision']) };
    const without = encodeBody({ ...bareRequest, reasoning: on, temperature: 1 }, plain);
    expect(without.json['reasoning']).toBeUndefined();
    expect(without.json['include']).toBeUndefined();
    expect(without.losses.map(({ what }) => what)).toEqual(['reasoning', 'temperature']);
  });

  it.each([
    ['stop', { stop: ['END'] }],
    ['n', { choices: 2 }],
    [
      'audio',
      userTurn({ type: 'audio', source: { kind: 'data', mime: 'audio/wav', base64: 'aa' } }),
    ],
    ['video', userTurn({ type: 'video', source: { kind: 'url', url: 'https://x', mime: null } })],
    [
      'file_id',
      userTurn({ type: 'image', source: { kind: 'file-id', protocol: 'messages', id: 'f' } }),
    ],
    [
      'cachedContent',
      {
        extensions: [
          {
            protocol: 'generate-content',
            name: 'cachedContent',
            value: 'c',
            ifForeign: 'refuse',
          },
        ],
      },
    ],
  ] as const)('%s cannot be had', (what, changes) => {
    const encode = () => encodeBody({ ...bareRequest, ...(changes as Partial<GenerationRequest>) });
    expect(encode).toThrow(Unconvertible);
    expect(encode).toThrow(expect.objectContaining({ what }));
  });

  it('each loss is reported once', () => {
    const { losses, json } = encodeBody({
      ...bareRequest,
      topK: 5,
      seed: 1,
      presencePenalty: 1,
      frequencyPenalty: 1,
      maxOutputTokens: 5,
      stop: [''],
      reasoning: { mode: 'on', effort: null, budget: 8192, show: true },
      tools: [
        { type: 'hosted', kind: 'fetch', protocol: 'messages', name: 'web_fetch_1', value: {} },
      ],
      extensions: [
        { protocol: 'chat', name: 'logit_bias', value: {}, ifForeign: 'drop' },
        { protocol: 'chat', name: 'metadata', value: {}, ifForeign: 'ignore' },
      ],
    });
    expect(losses.map(({ what, how }) => `${how} ${what}`).toSorted()).toEqual([
      'approximated max_output_tokens',
      'approximated reasoning.budget',
      'dropped frequency_penalty',
      'dropped logit_bias',
      'dropped presence_penalty',
      'dropped seed',
      'dropped tools.web_fetch_1',
      'dropped top_k',
    ]);
    expect(json).toMatchObject({
      max_output_tokens: 16,
      reasoning: { effort: 'medium', summary: 'auto' },
    });
    expect(json['tools']).toBeUndefined();
  });

  it('a hosted tool becomes its equivalent if the upstream has hosted tools, else it is dropped', () => {
    const tool = (kind: 'web-search' | 'fetch', name: string) =>
      ({ type: 'hosted', kind, protocol: 'messages', name, value: { name } }) as const;
    const tools = [tool('web-search', 'web_search_1'), tool('fetch', 'web_fetch_1')];
    const runs = { capabilities: new Set(['hosted_tools']) };
    const choose = (mode: 'auto' | 'required', ...only: string[]) => ({
      ...bareRequest,
      tools,
      toolChoice: { mode, only },
    });
    const search = encodeBody(choose('required', 'web_search_1'), runs);
    expect(search.json).toMatchObject({
      tools: [{ type: 'web_search' }],
      tool_choice: { type: 'web_search' },
    });
    expect(search.losses).toEqual([
      { what: 'tools.web_fetch_1', how: 'dropped' },
      { what: 'tools.web_search_1', how: 'approximated' },
    ]);
    for (const encode of [
      () => encodeBody(choose('required', 'web_fetch_1'), runs),
      () => encodeBody(choose('required', 'web_search_1')),
    ]) {
      expect(encode).toThrow(expect.objectContaining({ what: 'tool_choice' }));
    }
    expect(encodeBody(choose('auto', 'web_fetch_1'), runs).json['tool_choice']).toBe('none');
    const none = encodeBody(choose('auto', 'web_search_1')).json;
    expect([none['tools'], none['tool_choice']]).toEqual([undefined, undefined]);
  });

  it('a failed call is marked in words', () => {
    const result = (text: string) =>
      userTurn({
        type: 'tool-result',
        id: 'c',
        name: null,
        content: [{ type: 'text', text }],
        isError: true,
      });
    expect(encodeBody(result('no such file')).json['input']).toEqual([
      { type: 'function_call_output', call_id: 'c', output: 'Error: no such file' },
    ]);
    expect(encodeBody(result('Error: x')).json['input']).toMatchObject([{ output: 'Error: x' }]);
    expect(encodeBody(result('x')).losses).toEqual([
      { what: 'tool_result.is_error', how: 'approximated' },
    ]);
  });

  it('an image of the model comes back as the user’s', () => {
    const { json, losses } = encodeBody({
      ...bareRequest,
      turns: [
        {
          role: 'assistant',
          blocks: [
            { type: 'text', text: 'Here' },
            { type: 'image', source: { kind: 'data', mime: 'image/png', base64: 'aaaa' } },
          ],
        },
      ],
    });
    expect(json['input']).toMatchObject([
      { role: 'assistant', content: 'Here' },
      { role: 'user', content: [{ type: 'input_image', image_url: 'data:image/png;base64,aaaa' }] },
    ]);
    expect(losses).toEqual([{ what: 'image', how: 'approximated' }]);
  });

  it('a message of the model is a text, or has an id of its place and a status', () => {
    const said = (...texts: string[]) =>
      ({
        role: 'assistant',
        blocks: texts.map((text) => ({ type: 'text' as const, text })),
      }) as const;
    const turns = [said('a'), said('b', 'c'), said('b', 'c')];
    const { json } = encodeBody({ ...bareRequest, turns });
    const parts = ['b', 'c'].map((text) => ({ type: 'output_text', text, annotations: [] }));
    const whole = { type: 'message', role: 'assistant', status: 'completed', content: parts };
    const input = json['input'] as readonly { readonly id?: string }[];
    expect(input).toEqual([
      { type: 'message', role: 'assistant', content: 'a' },
      { ...whole, id: expect.stringMatching(/^msg_[0-9a-f]{32}$/) },
      { ...whole, id: expect.stringMatching(/^msg_[0-9a-f]{32}$/) },
    ]);
    expect(input[1]?.id).not.toBe(input[2]?.id);
    expect(encodeBody({ ...bareRequest, turns }).json).toEqual(json);
  });
});

function image(url: string): object {
  return { role: 'user', content: [{ type: 'input_image', image_url: url }] };
}
