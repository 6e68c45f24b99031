import { describe, expect, it } from 'vitest';
import { type Block, type NativeState, Unconvertible } from '#canonical/index.ts';
import { compatible, decodeMessages, encode, errorOf, openai } from '#test/support/chat-codec.ts';
import type { EncodeTarget } from '../../../codec.ts';
import { contentState } from '../reasoning.ts';

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
    expect(losses.map(({ what }) => what)).toEqual(['presence_penalty', 'temperature']);
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
    expect(sent('', 'require')).toEqual({ ...message, reasoning_content: ' ' });
    expect(sent('hm', 'require')).toEqual({ ...message, reasoning_content: 'hm' });
    expect(sent('', 'allow')).toEqual(message);
    expect(sent('hm', 'allow')).toEqual({ ...message, reasoning_content: 'hm' });
    expect(sent('hm', 'strip')).toEqual(message);
    expect(sent('hm', null)).toEqual(message);
  });

  it('what the upstream sent as reasoning_content returns to it beside calls', () => {
    const call = {
      type: 'tool-call',
      id: 'c',
      name: 'f',
      kind: 'function',
      arguments: '{}',
    } as const;
    const turn = (state: NativeState | undefined, more: Block) =>
      ({
        ...decodeMessages(),
        turns: [
          {
            role: 'assistant',
            blocks: [
              { type: 'reasoning', text: 'hm', ...(state && { state }) },
              { type: 'reasoning', text: 'foreign' },
              more,
            ],
          },
        ],
      }) as const;
    const sent = (...of: Parameters<typeof turn>) =>
      (encode(turn(...of), compatible).json['messages'] as Record<string, unknown>[])[0]?.[
        'reasoning_content'
      ];
    expect(sent(contentState, call)).toBe('hm');
    expect(sent(undefined, call)).toBeUndefined();
    expect(sent(contentState, { type: 'text', text: 'x' })).toBeUndefined();
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
