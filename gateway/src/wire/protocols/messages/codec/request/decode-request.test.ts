import { describe, expect, it } from 'vitest';
import type { Block } from '#canonical/index.ts';
import { GatewayError } from '#errors/index.ts';
import { decodeWire } from '#test/support/messages-wire.ts';

const body = (fields: object) => ({
  model: 'm',
  max_tokens: 9,
  messages: [{ role: 'user', content: 'hi' }],
  ...fields,
});
const decode = (fields: object) => decodeWire(body(fields));

function blocksOf(content: unknown, role = 'user'): readonly Block[] {
  return decode({ messages: [{ role, content }] }).turns[0]?.blocks ?? [];
}

function refusal(fields: object): unknown {
  try {
    decode(fields);
  } catch (error) {
    if (error instanceof GatewayError) return [error.errorName, error.param];
    throw error;
  }
  return null;
}

const message = (content: unknown, role = 'user') => ({ messages: [{ role, content }] });

describe('a meaningless value is refused with its path', () => {
  it.each<[string, object]>([
    ['messages', { messages: 'hi' }],
    ['messages.0', { messages: ['hi'] }],
    [
      'messages.1.role',
      {
        messages: [
          { role: 'user', content: 'a' },
          { role: 'tool', content: 'b' },
        ],
      },
    ],
    ['messages.0.content', message(7)],
    ['messages.0.content.0', message(['hi'])],
    ['messages.0.content.0.type', message([{ text: 'hi' }])],
    ['messages.0.content.0.text', message([{ type: 'text' }])],
    ['messages.0.content.1.source', message([{ type: 'text', text: 'a' }, { type: 'image' }])],
    [
      'messages.0.content.0.source.data',
      message([{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: '!!' } }]),
    ],
    [
      'messages.0.content.0.source.media_type',
      message([{ type: 'image', source: { type: 'base64', data: 'AAAA' } }]),
    ],
    ['messages.0.content.0.source.url', message([{ type: 'document', source: { type: 'url' } }])],
    ['messages.0.content.0.type', message([{ type: 'tool_use', id: 'a', name: 'f', input: {} }])],
    ['messages.0.content.0.id', message([{ type: 'tool_use', name: 'f', input: {} }], 'assistant')],
    [
      'messages.0.content.0.type',
      message([{ type: 'tool_result', tool_use_id: 'a' }], 'assistant'),
    ],
    ['messages.0.content.0.tool_use_id', message([{ type: 'tool_result', content: 'x' }])],
    [
      'messages.0.content.0.content.0.source.data',
      message([
        {
          type: 'tool_result',
          tool_use_id: 'a',
          content: [
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'a' } },
          ],
        },
      ]),
    ],
    ['system.0.type', { system: [{ type: 'image' }] }],
    ['tools.0.name', { tools: [{ input_schema: {} }] }],
    ['tools.0.input_schema', { tools: [{ name: 'f', input_schema: 'object' }] }],
    ['tool_choice.type', { tool_choice: { type: 'some' } }],
    ['stop_sequences.0', { stop_sequences: [1] }],
    ['top_p', { top_p: '1' }],
    ['output_config.format', { output_config: { format: { type: 'json_schema' } } }],
  ])('%s', (param, fields) => {
    expect(refusal(fields)).toEqual(['invalid_value', param]);
  });
});

describe('blocks', () => {
  it('keep images in every form', () => {
    const sources = [
      { type: 'base64', media_type: 'image/png', data: 'AAAA' },
      { type: 'base64', media_type: 'image/png', data: 'AA\nAA' },
      { type: 'base64', data: 'data:image/png;base64,AAAA' },
      { type: 'url', url: 'data:image/png;base64,AAAA' },
      { type: 'url', url: 'https://a.example/i.png' },
      { type: 'file', file_id: 'file_1' },
    ];
    const data = { kind: 'data', mime: 'image/png', base64: 'AAAA' };
    // Not base64 where it belongs.
    const repaired = { ...data, repaired: true };
    expect(blocksOf(sources.map((source) => ({ type: 'image', source })))).toEqual(
      [
        data,
        repaired,
        repaired,
        repaired,
        { kind: 'url', url: 'https://a.example/i.png', mime: null },
        { kind: 'file-id', protocol: 'messages', id: 'file_1' },
      ].map((source) => ({ type: 'image', source })),
    );
  });

  it('keep documents in every form', () => {
    const text = { kind: 'data', mime: 'text/plain', base64: Buffer.from('é').toString('base64') };
    expect(
      blocksOf([
        {
          type: 'document',
          title: 't',
          source: { type: 'text', media_type: 'text/plain', data: 'é' },
        },
        {
          type: 'document',
          source: { type: 'base64', media_type: 'application/pdf', data: 'AAAA' },
        },
        { type: 'document', source: { type: 'url', url: 'https://a.example/x' } },
        {
          type: 'document',
          source: {
            type: 'content',
            content: [
              { type: 'text', text: 'é' },
              { type: 'image', source: { type: 'url', url: 'https://a.example/i' } },
            ],
          },
        },
      ]),
    ).toEqual([
      { type: 'file', filename: 't', source: text },
      { type: 'file', source: { kind: 'data', mime: 'application/pdf', base64: 'AAAA' } },
      {
        type: 'file',
        source: { kind: 'url', url: 'https://a.example/x', mime: 'application/pdf' },
      },
      { type: 'file', source: text },
      { type: 'image', source: { kind: 'url', url: 'https://a.example/i', mime: null } },
    ]);
  });

  it('put a search result into words and keep it for their own protocol', () => {
    const block = {
      type: 'search_result',
      title: 'T',
      source: 'https://a.example',
      content: [{ type: 'text', text: 'found' }],
    };
    expect(blocksOf([block])).toEqual([
      {
        type: 'text',
        text: 'T\nhttps://a.example\nfound',
        extensions: [
          { protocol: 'messages', name: 'search_result', value: block, ifForeign: 'approximate' },
        ],
      },
    ]);
  });

  it('distinguish the vendor’s signatures from the gateway’s envelopes', () => {
    const state = (kind: string, data: string) => ({ protocol: 'messages', kind, data });
    expect(
      blocksOf(
        [
          { type: 'thinking', thinking: ' a\n', signature: 'Ep==' },
          { type: 'thinking', thinking: 'b', signature: 'gw2.x.y' },
          { type: 'thinking', thinking: 'c', signature: '' },
          { type: 'redacted_thinking', data: 'Zz' },
        ],
        'assistant',
      ),
    ).toEqual([
      { type: 'reasoning', text: ' a\n', state: state('signature', 'Ep==') },
      { type: 'reasoning', text: 'b', state: state('envelope', 'gw2.x.y') },
      { type: 'reasoning', text: 'c' },
      { type: 'reasoning', text: '', state: state('redacted', 'Zz') },
    ]);
  });

  it('K19: the call and the result of a hosted tool stay together', () => {
    const [call, result] = blocksOf(
      [
        { type: 'server_tool_use', id: 's', name: 'web_search', input: {} },
        { type: 'web_search_tool_result', tool_use_id: 's', content: [] },
      ],
      'assistant',
    );
    expect([call, result]).toMatchObject([
      { type: 'opaque', name: 'server_tool_use', ifForeign: 'drop' },
      { type: 'opaque', name: 'web_search_tool_result', ifForeign: 'drop' },
    ]);
  });

  it('keep a compaction with words, and refuse one without', () => {
    expect(blocksOf([{ type: 'compaction', content: 'so far' }], 'assistant')).toMatchObject([
      { type: 'opaque', text: 'so far', ifForeign: 'drop' },
    ]);
    expect(blocksOf([{ type: 'compaction', content: null }], 'assistant')).toMatchObject([
      { type: 'opaque', ifForeign: 'refuse' },
    ]);
  });

  it('read results of every form', () => {
    const text = (value: string) => [{ type: 'text', text: value }];
    const contents = ['out', '', undefined, { a: 1 }, [{ type: 'text', text: 'x' }]];
    const results = contents.map((content) => ({ type: 'tool_result', tool_use_id: 'a', content }));
    expect(blocksOf(results).map((block) => block.type === 'tool-result' && block.content)).toEqual(
      [text('out'), [], [], text('{"a":1}'), text('x')],
    );
  });

  it('read arguments as text, with their members in order', () => {
    const inputs = [{ b: 1, a: 'é' }, '{"b":1}', null];
    const calls = inputs.map((input, index) => ({
      type: 'tool_use',
      id: `c${index}`,
      name: 'f',
      input,
    }));
    expect(
      blocksOf(calls, 'assistant').map((block) => block.type === 'tool-call' && block.arguments),
    ).toEqual(['{"b":1,"a":"é"}', '{"b":1}', '{}']);
  });

  it('K47: keep cache markers and their lifetimes', () => {
    const marked = { type: 'text', text: 'a', cache_control: { type: 'ephemeral', ttl: '1h' } };
    expect(blocksOf([marked, { ...marked, cache_control: { type: 'ephemeral' } }])).toEqual([
      { type: 'text', text: 'a', cache: { ttl: '1h' } },
      { type: 'text', text: 'a', cache: { ttl: null } },
    ]);
  });
});

describe('the system prompt', () => {
  it('keeps its blocks and, for its own protocol alone, the attribution of Claude Code', () => {
    const attribution = { type: 'text', text: 'x-anthropic-billing-header: cc_version=2' };
    const request = decode({ system: [attribution, { type: 'text', text: 'Be brief.' }] });
    expect(request.system).toEqual([{ type: 'text', text: 'Be brief.' }]);
    expect(request.extensions).toEqual([
      { protocol: 'messages', name: 'system.attribution', value: attribution, ifForeign: 'ignore' },
    ]);
  });

  it('includes leading instructions and leaves later ones in place', () => {
    const { system, turns } = decode({
      system: 'one',
      messages: [
        { role: 'system', content: 'two' },
        { role: 'user', content: 'hi' },
        { role: 'system', content: [{ type: 'text', text: 'three' }] },
      ],
    });
    expect(system.map(({ text }) => text)).toEqual(['one', 'two']);
    expect(turns.map(({ role }) => role)).toEqual(['user', 'system']);
  });
});

describe('tools', () => {
  it('are functions, hosted tools, or functions with a type of their vendor', () => {
    const { tools } = decode({
      tools: [
        {
          type: 'custom',
          name: 'f',
          input_schema: { type: 'object' },
          strict: true,
          defer_loading: true,
          input_examples: [{}],
        },
        { type: 'web_search_20260318', name: 'web_search', max_uses: 3 },
        { type: 'web_fetch_20250910', name: 'web_fetch' },
        { type: 'code_execution_20260521', name: 'code_execution' },
        { type: 'bash_20250124', name: 'bash' },
        { type: 'memory_20250818', name: 'memory' },
      ],
    });
    expect(tools[0]).toEqual({
      type: 'function',
      name: 'f',
      description: null,
      schema: { type: 'object' },
      strict: true,
      extensions: [
        { protocol: 'messages', name: 'defer_loading', value: true, ifForeign: 'drop' },
        { protocol: 'messages', name: 'input_examples', value: [{}], ifForeign: 'drop' },
      ],
    });
    expect(tools.slice(1).map((tool) => tool.type === 'hosted' && [tool.kind, tool.name])).toEqual([
      ['web-search', 'web_search'],
      ['fetch', 'web_fetch'],
      ['code', 'code_execution'],
      false,
      false,
    ]);
    const typed = (name: string, type: string) => ({
      type: 'function',
      name,
      schema: { type: 'object' },
      typed: { protocol: 'messages', value: { type, name } },
    });
    expect(tools.slice(4)).toMatchObject([
      typed('bash', 'bash_20250124'),
      typed('memory', 'memory_20250818'),
    ]);
  });

  it.each([
    [{ type: 'auto' }, { mode: 'auto', only: null }, null],
    [{ type: 'any', disable_parallel_tool_use: true }, { mode: 'required', only: null }, false],
    [
      { type: 'tool', name: 'f', disable_parallel_tool_use: false },
      { mode: 'required', only: ['f'] },
      true,
    ],
    [{ type: 'none' }, { mode: 'none', only: null }, null],
  ])('are chosen by %j', (choice, toolChoice, parallelTools) => {
    expect(decode({ tool_choice: choice })).toMatchObject({ toolChoice, parallelTools });
  });
});

describe('reasoning', () => {
  it.each([
    [
      { thinking: { type: 'enabled', budget_tokens: 2000 } },
      { mode: 'on', effort: null, budget: 2000, show: null },
    ],
    [
      { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'xhigh' } },
      { mode: 'on', effort: 'xhigh', budget: null, show: true },
    ],
    [
      { thinking: { type: 'adaptive', display: 'omitted' } },
      { mode: 'on', effort: null, budget: null, show: false },
    ],
    [
      { thinking: { type: 'adaptive', display: 'updates' } },
      { mode: 'on', effort: null, budget: null, show: true },
    ],
    [{ thinking: { type: 'disabled' } }, { mode: 'off', effort: null, budget: null, show: null }],
    [{ output_config: { effort: 'low' } }, { mode: 'on', effort: 'low', budget: null, show: null }],
    [{}, null],
  ])('%j', (fields, reasoning) => {
    expect(decode(fields).reasoning).toEqual(reasoning);
  });
});

it('declares for every other member what its loss means', () => {
  const { extensions } = decode({
    temperature: 0.5,
    container: 'c',
    mcp_servers: [{}],
    context_management: {},
    service_tier: 'auto',
    diagnostics: {},
    new_thing: 1,
    stop_sequences: null,
    fallbacks: [],
    metadata: { user_id: 'u', other: 1 },
    output_config: { task_budget: 1 },
  });
  expect(Object.fromEntries(extensions.map(({ name, ifForeign }) => [name, ifForeign]))).toEqual({
    temperature: 'drop',
    container: 'refuse',
    mcp_servers: 'refuse',
    context_management: 'drop',
    service_tier: 'drop',
    diagnostics: 'drop',
    new_thing: 'drop',
    metadata: 'drop',
    output_config: 'drop',
  });
  expect(decode({ temperature: 0.5 }).temperature).toBe(null);
});
