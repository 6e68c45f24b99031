import { describe, expect, it } from 'vitest';
import type { Block, GenerationRequest } from '#canonical/index.ts';
import { assistant, tool, user } from '#test/support/canonical.ts';
import { type Body, encode, refused } from '#test/support/messages-encoding.ts';

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
