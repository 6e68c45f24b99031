import { describe, expect, it } from 'vitest';
import { GatewayError } from '#errors/index.ts';
import { compatible, decode, decodeMessages, encode, errorOf } from '#test/support/chat-codec.ts';

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
