import { openBudget } from '#json/index.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type GenerationRequest, Unconvertible } from '#canonical/index.ts';
import { GatewayError } from '#errors/index.ts';
import type { EncodeTarget } from '../../../codec.ts';
import { chat, chatCodec } from '../../index.ts';
import { chatRequest } from './request.arbitrary.ts';
import { traitsOf } from '#test/support/upstream-traits.ts';

const path = { operation: 'generate', model: null, stream: null } as const;
const openai: EncodeTarget = {
  model: 'up',
  traits: traitsOf('openai', 'up'),
  maxOutputTokens: null,
  capabilities: new Set(),
  echoReasoning: 'allow',
  budget: openBudget(1_048_576),
};
const compatible: EncodeTarget = {
  ...openai,
  traits: traitsOf('openai-compatible', 'up'),
  echoReasoning: null,
};

function decode(json: object): GenerationRequest {
  const body = Buffer.from(JSON.stringify({ model: 'm', messages: [], ...json }));
  return chatCodec.decodeRequest(chat.readRequest(chat.openRequest(body, path)));
}

const encode = (request: GenerationRequest, target = openai) =>
  chatCodec.encodeRequest(request, target);

const decodeMessages = (...messages: readonly object[]) => decode({ messages });

function errorOf(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  return null;
}

describe('a chat request', () => {
  it('survives a round trip over the wire', () => {
    fc.assert(
      fc.property(chatRequest, (request) => {
        const { model } = request;
        const target = { ...openai, model, traits: traitsOf('openai', model) };
        const { json, losses } = encode(request, target);
        expect(losses).toEqual([]);
        expect(decode(json)).toEqual(request);
      }),
      { numRuns: 400 },
    );
  });

  it('is encoded as the same text each time', () => {
    fc.assert(
      fc.property(chatRequest, (request) => {
        const again = structuredClone(request);
        expect(JSON.stringify(encode(again))).toBe(JSON.stringify(encode(request)));
      }),
      { numRuns: 50 },
    );
  });
});

describe('messages of a chat request', () => {
  const user = { role: 'user', content: 'Hi' };

  it('leading system and developer messages are the system, later ones keep their place', () => {
    const { system, turns } = decodeMessages(
      { role: 'system', content: 'a' },
      {
        role: 'developer',
        content: [
          { type: 'text', text: 'b' },
          { type: 'text', text: 'c' },
        ],
      },
      user,
      { role: 'system', content: 'd' },
    );
    expect(system.map(({ text }) => text)).toEqual(['a', 'b', 'c']);
    expect(turns.map(({ role }) => role)).toEqual(['user', 'system']);
  });

  it('adjacent tool messages are one turn', () => {
    const call = (id: string) => ({
      id,
      type: 'function',
      function: { name: 'f', arguments: '{}' },
    });
    const { turns } = decodeMessages(
      user,
      { role: 'assistant', content: null, tool_calls: [call('a'), call('b')] },
      { role: 'tool', tool_call_id: 'a', content: '1' },
      { role: 'tool', tool_call_id: 'b', content: [{ type: 'text', text: '2' }] },
      user,
    );
    expect(turns.map(({ role, blocks }) => [role, blocks.map(({ type }) => type)])).toEqual([
      ['user', ['text']],
      ['assistant', ['tool-call', 'tool-call']],
      ['user', ['tool-result', 'tool-result']],
      ['user', ['text']],
    ]);
  });

  it('an empty text beside calls is ignored', () => {
    const tool_calls = [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }];
    const { turns } = decodeMessages({ role: 'assistant', content: '', tool_calls });
    expect(turns[0]?.blocks.map(({ type }) => type)).toEqual(['tool-call']);
  });

  it('a legacy function call and its result have no id', () => {
    const { turns, tools, toolChoice } = decode({
      messages: [
        { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{"a":1}' } },
        { role: 'function', name: 'f', content: 'done' },
      ],
      functions: [{ name: 'f', parameters: { type: 'object', properties: {} } }],
      function_call: { name: 'f' },
    });
    expect(turns[0]?.blocks).toEqual([
      { type: 'tool-call', id: null, name: 'f', kind: 'function', arguments: '{"a":1}' },
    ]);
    expect(turns[1]?.blocks).toMatchObject([{ type: 'tool-result', id: null, name: 'f' }]);
    expect(tools).toMatchObject([{ type: 'function', name: 'f' }]);
    expect(toolChoice).toEqual({ mode: 'required', only: ['f'] });
  });

  it('K25: reasoning in history is read once, whichever members carry it', () => {
    const details = [{ type: 'reasoning.text', text: 'hm', index: 0 }];
    for (const message of [
      { reasoning_content: 'hm' },
      { reasoning: 'hm' },
      { reasoning_details: details },
      { reasoning_content: 'hm', reasoning: 'hm', reasoning_details: details },
    ]) {
      const { turns } = decodeMessages({ role: 'assistant', content: 'x', ...message });
      expect(turns[0]?.blocks).toEqual([
        { type: 'reasoning', text: 'hm' },
        { type: 'text', text: 'x' },
      ]);
    }
  });

  it("a router's opaque details return to it unchanged, and go nowhere else", () => {
    const details = [{ type: 'reasoning.text', text: 'hm', signature: 'S', format: 'x', index: 0 }];
    const request = decodeMessages({ role: 'assistant', content: 'x', reasoning_details: details });
    expect(request.turns[0]?.blocks[0]?.state?.kind).toBe('encrypted');
    expect(encode(request, compatible).json['messages']).toEqual([
      { role: 'assistant', content: 'x', reasoning_details: details },
    ]);
  });

  it.each([
    ['messages.0.role', { role: 'wizard', content: '' }],
    ['messages.0.role', { content: '' }],
    ['messages.0.content', { role: 'user' }],
    ['messages.0.content', { role: 'user', content: 7 }],
    ['messages.0.content.0', { role: 'user', content: ['x'] }],
    ['messages.0.content.0.text', { role: 'user', content: [{ type: 'text' }] }],
    [
      'messages.0.content.0.image_url.url',
      part({ type: 'image_url', image_url: { url: 'data:image/png;base64,@@' } }),
    ],
    [
      'messages.0.content.0.image_url.url',
      part({ type: 'image_url', image_url: { url: 'data:image/png;base64,' } }),
    ],
    [
      'messages.0.content.0.image_url.url',
      part({ type: 'image_url', image_url: { url: 'file:///etc/passwd' } }),
    ],
    ['messages.0.content.0.image_url', part({ type: 'image_url' })],
    [
      'messages.0.content.0.input_audio.data',
      part({ type: 'input_audio', input_audio: { data: '?', format: 'wav' } }),
    ],
    ['messages.0.content.0.file.file_data', part({ type: 'file', file: { filename: 'a' } })],
    ['messages.0.tool_call_id', { role: 'tool', content: '' }],
    ['messages.0.tool_calls.0', { role: 'assistant', tool_calls: [{ id: 'a' }] }],
  ])('%s is named when it is wrong', (param, message) => {
    const error = errorOf(() => decodeMessages(message));
    expect(error).toBeInstanceOf(GatewayError);
    expect(error).toMatchObject({ errorName: 'invalid_value', param });
  });

  function part(value: object): object {
    return { role: 'user', content: [value] };
  }

  it.each([
    ['stop.1', { stop: ['a', 1] }],
    ['top_p', { top_p: 'x' }],
    ['tool_choice', { tool_choice: 'maybe' }],
    ['tools.0.function', { tools: [{ type: 'function' }] }],
    ['response_format.json_schema', { response_format: { type: 'json_schema' } }],
  ])('%s is named when it is wrong', (param, json) => {
    expect(errorOf(() => decode(json))).toMatchObject({ errorName: 'invalid_value', param });
  });

  it('unknown parts and members are kept', () => {
    const smell = { type: 'input_smell', smell: 1 };
    const request = decode({
      messages: [{ role: 'user', content: [smell], mood: 'good' }],
      logit_bias: { 1: 2 },
      metadata: { a: 'b' },
      stream_options: { include_obfuscation: false },
      modalities: ['text', 'audio'],
      response_format: { type: 'grammar', grammar: 'x' },
      nothing: null,
    });
    expect(request.extensions.map(({ name, ifForeign }) => [name, ifForeign])).toEqual([
      ['response_format', 'refuse'],
      ['logit_bias', 'drop'],
      ['metadata', 'ignore'],
      ['modalities', 'refuse'],
      ['stream_options', 'ignore'],
    ]);
    const { json } = encode(request);
    expect(json['messages']).toEqual([{ role: 'user', content: [smell], mood: 'good' }]);
    expect(json).toMatchObject({ logit_bias: { 1: 2 }, response_format: { type: 'grammar' } });
  });

  it('cache markers are read in both spellings', () => {
    const marked = { type: 'text', text: 'a', cache_control: { type: 'ephemeral', ttl: '1h' } };
    const { system, turns } = decodeMessages(
      { role: 'system', content: [marked] },
      {
        role: 'user',
        content: [{ type: 'text', text: 'a', prompt_cache_breakpoint: { mode: 'explicit' } }],
      },
      { role: 'user', content: 'b', cache_control: { type: 'ephemeral' } },
    );
    expect(system[0]?.cache).toEqual({ ttl: '1h' });
    expect(turns.map(({ blocks }) => blocks[0]?.cache)).toEqual([{ ttl: null }, { ttl: null }]);
  });

  it.each([
    [{ reasoning_effort: 'high' }, { mode: 'on', effort: 'high', budget: null, show: true }],
    [{ reasoning_effort: 'none' }, { mode: 'off', effort: 'none', budget: null, show: null }],
    [{ reasoning: { max_tokens: 2000 } }, { mode: 'on', effort: null, budget: 2000, show: true }],
    [
      { reasoning: { effort: 'low', exclude: true } },
      { mode: 'on', effort: 'low', budget: null, show: false },
    ],
    [{ thinking: { type: 'disabled' } }, { mode: 'off', effort: 'none', budget: null, show: null }],
    [{ enable_thinking: true }, { mode: 'on', effort: null, budget: null, show: true }],
    [{ reasoning_effort: 'default' }, null],
  ])('%j says how much to think', (json, reasoning) => {
    const request = decode(json);
    expect(request.reasoning).toEqual(reasoning);
    expect(request.extensions.length).toBe(reasoning === null ? 1 : 0);
  });
});

describe('what another client wrote, for a chat upstream', () => {
  const plain = decodeMessages({ role: 'user', content: 'Hi' });

  it('names the output limit as the upstream knows it', () => {
    const request = { ...plain, maxOutputTokens: 9 };
    expect(encode(request).json).toMatchObject({ max_completion_tokens: 9 });
    expect(encode(request, compatible).json).toMatchObject({ max_tokens: 9 });
  });

  it('asks for usage on every stream', () => {
    expect(encode({ ...plain, stream: true }).json['stream_options']).toEqual({
      include_usage: true,
    });
  });

  it('foreign extensions are dropped, ignored or refused as declared', () => {
    const extension = (ifForeign: 'drop' | 'ignore' | 'refuse') => ({
      ...plain,
      extensions: [{ protocol: 'messages', name: 'container', value: 1, ifForeign }] as const,
    });
    expect(encode(extension('drop')).losses).toEqual([{ what: 'container', how: 'dropped' }]);
    expect(encode(extension('ignore')).losses).toEqual([]);
    expect(JSON.stringify(encode(extension('drop')).json)).not.toContain('container');
    expect(errorOf(() => encode(extension('refuse')))).toMatchObject({ what: 'container' });
  });

  it('more than four stop sequences are refused, top_k is dropped', () => {
    expect(encode({ ...plain, stop: ['', 'b', 'c', 'd', 'e'] }).json['stop']).toHaveLength(4);
    const error = errorOf(() => encode({ ...plain, stop: ['a', 'b', 'c', 'd', 'e'] }));
    expect(error).toBeInstanceOf(Unconvertible);
    expect(error).toMatchObject({ what: 'stop' });
    expect(encode({ ...plain, topK: 4 }).losses).toEqual([{ what: 'top_k', how: 'dropped' }]);
  });

  it('K46: models without sampling get no sampling parameters', () => {
    const target = { ...openai, capabilities: new Set(['tools']) };
    const { json, losses } = encode({ ...plain, temperature: 1, presencePenalty: 1 }, target);
    expect(json).not.toHaveProperty('temperature');
    expect(losses.map(({ what }) => what)).toEqual(['temperature', 'presence_penalty']);
  });

  it('K18: every function has a schema of type object with properties', () => {
    const tool = { type: 'function', name: 'f', description: null, strict: null } as const;
    const schemas = [null, {}, { type: 'object' }, { properties: { a: {} } }];
    const { json } = encode({ ...plain, tools: schemas.map((schema) => ({ ...tool, schema })) });
    for (const each of json['tools'] as { function: { parameters: object } }[]) {
      expect(each.function.parameters).toMatchObject({ type: 'object', properties: {} });
    }
  });

  it('a budget becomes the closest effort', () => {
    const budget = (tokens: number) => ({
      ...plain,
      reasoning: { mode: 'on', effort: null, budget: tokens, show: null } as const,
    });
    const sent = [1, 513, 1025, 8193, 24_577].map(
      (tokens) => encode(budget(tokens)).json['reasoning_effort'],
    );
    expect(sent).toEqual(['minimal', 'low', 'medium', 'high', 'xhigh']);
    expect(encode(budget(99_999), compatible)).toMatchObject({
      json: { reasoning_effort: 'high' },
      losses: [
        { what: 'reasoning.budget', how: 'approximated' },
        { what: 'reasoning.effort', how: 'approximated' },
      ],
    });
  });

  it('reasoning of earlier turns is sent as the upstream wants it', () => {
    const turns = (thoughts: string) => ({
      ...plain,
      turns: [
        {
          role: 'assistant',
          blocks: [
            ...(thoughts === '' ? [] : [{ type: 'reasoning', text: thoughts } as const]),
            { type: 'text', text: 'x' },
          ],
        } as const,
      ],
    });
    const sent = (thoughts: string, echoReasoning: EncodeTarget['echoReasoning']) =>
      (encode(turns(thoughts), { ...openai, echoReasoning }).json['messages'] as object[])[0];
    const message = { role: 'assistant', content: 'x' };
    expect(sent('', 'require')).toEqual({ ...message, reasoning_content: '' });
    expect(sent('hm', 'require')).toEqual({ ...message, reasoning_content: 'hm' });
    expect(sent('', 'allow')).toEqual(message);
    expect(sent('hm', 'allow')).toEqual({ ...message, reasoning_content: 'hm' });
    expect(sent('hm', 'strip')).toEqual(message);
    expect(sent('hm', null)).toEqual(message);
  });

  it('tool results come in call order, followed by their media', () => {
    const image = {
      type: 'image',
      source: { kind: 'data', mime: 'image/png', base64: 'AAAA' },
    } as const;
    const result = { type: 'tool-result', name: null, isError: false } as const;
    const call = { type: 'tool-call', name: 'f', kind: 'function', arguments: '' } as const;
    const { json, losses } = encode({
      ...plain,
      turns: [
        {
          role: 'assistant',
          blocks: [
            { ...call, id: 'a' },
            { ...call, id: 'b' },
          ],
        },
        {
          role: 'user',
          blocks: [
            { ...result, id: 'b', content: [{ type: 'text', text: 'bad' }], isError: true },
            { ...result, id: 'a', content: [{ type: 'text', text: 'ok' }, image] },
            { type: 'text', text: 'Go on' },
          ],
        },
      ],
    });
    const calls = ['a', 'b'].map((id) => ({
      id,
      type: 'function',
      function: { name: 'f', arguments: '{}' },
    }));
    expect(json['messages']).toEqual([
      { role: 'assistant', content: null, tool_calls: calls },
      { role: 'tool', tool_call_id: 'a', content: 'ok' },
      { role: 'tool', tool_call_id: 'b', content: 'Error: bad' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Output of tool call a:' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
        ],
      },
      { role: 'user', content: 'Go on' },
    ]);
    expect(losses.map(({ what }) => what).toSorted()).toEqual([
      'tool_result.is_error',
      'tool_result.media',
    ]);
  });

  it('an error is marked once, a text file is sent as text', () => {
    const text = (each: string) => [{ type: 'text', text: each }] as const;
    const failed = (each: string) =>
      ({ type: 'tool-result', id: 'a', name: null, content: text(each), isError: true }) as const;
    const base64 = Buffer.from('café').toString('base64');
    const source = { kind: 'data', mime: 'text/plain', base64 } as const;
    const { json, losses } = encode({
      ...plain,
      turns: [
        { role: 'user', blocks: [failed('Error: bad'), failed('bad')] },
        { role: 'user', blocks: [{ type: 'file', source, filename: 'a.txt' }] },
      ],
    });
    const contents = (json['messages'] as { content: string }[]).map(({ content }) => content);
    expect(contents).toEqual(['Error: bad', 'Error: bad', 'a.txt:\ncafé']);
    expect(losses).toContainEqual({ what: 'file', how: 'approximated' });
  });

  it.each([
    ['video', { type: 'video', source: { kind: 'url', url: 'https://e.com/v', mime: null } }],
    ['audio', { type: 'audio', source: { kind: 'data', mime: 'audio/flac', base64: 'AAAA' } }],
    ['file.url', { type: 'file', source: { kind: 'url', url: 'https://e.com/f', mime: null } }],
    ['file_id', { type: 'image', source: { kind: 'file-id', protocol: 'messages', id: 'f' } }],
    [
      'thing',
      { type: 'opaque', protocol: 'messages', name: 'thing', value: 1, ifForeign: 'refuse' },
    ],
  ] as const)('%s cannot be converted', (what, block) => {
    const error = errorOf(() => encode({ ...plain, turns: [{ role: 'user', blocks: [block] }] }));
    expect(error).toBeInstanceOf(Unconvertible);
    expect(error).toMatchObject({ what });
  });

  it('K17: a tool of another provider is dropped, or refused if it is required', () => {
    const hosted = {
      type: 'hosted',
      kind: 'fetch',
      protocol: 'messages',
      name: 'web_fetch',
      value: {},
    } as const;
    expect(encode({ ...plain, tools: [hosted] })).toMatchObject({
      losses: [{ what: 'tools.web_fetch', how: 'dropped' }],
    });
    expect(encode({ ...plain, tools: [hosted] }).json).not.toHaveProperty('tools');
    const toolChoice = { mode: 'required', only: null } as const;
    expect(errorOf(() => encode({ ...plain, tools: [hosted], toolChoice }))).toMatchObject({
      what: 'tool_choice',
    });
  });

  it('a choice among some tools is sent as such, or as a list of those tools', () => {
    const tool = { type: 'function', description: null, schema: null, strict: null } as const;
    const tools = ['a', 'b', 'c'].map((name) => ({ ...tool, name }));
    const request = { ...plain, tools, toolChoice: { mode: 'auto', only: ['a', 'c'] } as const };
    expect(encode(request).json['tools']).toHaveLength(3);
    const { json, losses } = encode(request, compatible);
    expect(json).toMatchObject({
      tools: [{ function: { name: 'a' } }, { function: { name: 'c' } }],
      tool_choice: 'auto',
    });
    expect(losses).toEqual([{ what: 'tool_choice', how: 'approximated' }]);
  });
});
