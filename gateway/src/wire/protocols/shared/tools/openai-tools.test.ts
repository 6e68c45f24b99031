import { describe, expect, it } from 'vitest';
import type { FunctionTool } from '#canonical/index.ts';
import { Losses } from '../text/losses.ts';
import { fitTools } from './openai-tools.ts';
import type { JsonRecord } from '../values.ts';

function fit(schema: JsonRecord | null, strict: boolean | null = null) {
  const losses = new Losses('chat');
  const tool: FunctionTool = { type: 'function', name: 'f', description: null, schema, strict };
  const [fitted] = fitTools([tool], losses);
  const { schema: sent, strict: held } = fitted as FunctionTool;
  return { schema: sent, strict: held, losses: losses.all().map(({ what }) => what) };
}

const text = { type: 'string' };

describe('the arguments of a function', () => {
  it.each([
    [null, { type: 'object', properties: {} }],
    [{}, { type: 'object', properties: {} }],
    [
      { type: 'object', required: null },
      { type: 'object', properties: {} },
    ],
  ])('%j are an object with properties', (given, sent) => {
    expect(fit(given)).toEqual({ schema: sent, strict: null, losses: [] });
  });

  it.each(['anyOf', 'oneOf', 'allOf'])('are one object where the schema has %s', (union) => {
    const branches = [{ properties: { a: text }, required: ['a'] }, { properties: { b: text } }];
    expect(fit({ type: 'object', [union]: branches, properties: { c: text } })).toEqual({
      schema: {
        type: 'object',
        properties: { a: text, b: text, c: text },
        // Of one branch among others it is not required.
        ...(union === 'allOf' && { required: ['a'] }),
      },
      strict: null,
      losses: ['tool.schema'],
    });
  });

  it('declare the items of every array', () => {
    const bare = { type: 'array' };
    const whole = { type: 'array', items: {} };
    const properties = {
      a: bare,
      b: { type: ['array', 'null'] },
      c: { type: 'object', properties: { d: bare } },
      e: { anyOf: [bare, text] },
      f: { type: 'array', items: bare },
      g: { type: 'array', prefixItems: [text] },
    };
    expect(fit({ type: 'object', properties, $defs: { h: bare } }).schema).toEqual({
      type: 'object',
      properties: {
        a: whole,
        b: { type: ['array', 'null'], items: {} },
        c: { type: 'object', properties: { d: whole } },
        e: { anyOf: [whole, text] },
        f: { type: 'array', items: whole },
        g: { type: 'array', prefixItems: [text] },
      },
      $defs: { h: whole },
    });
  });
});

describe('arguments held to their schema', () => {
  const closed = (properties: JsonRecord) => ({
    type: 'object',
    properties,
    required: Object.keys(properties),
    additionalProperties: false,
  });

  it.each([
    [closed({})],
    [closed({ a: text, b: { type: ['string', 'null'] } })],
    [closed({ a: { type: 'array', items: closed({ b: text }) } })],
    [closed({ a: { anyOf: [closed({ b: text }), { type: 'null' }] } })],
    [{ ...closed({ a: { $ref: '#/$defs/b' } }), $defs: { b: closed({ c: text }) } }],
  ])('stay so when nothing is left open: %j', (schema) => {
    expect(fit(schema, true)).toEqual({ schema, strict: true, losses: [] });
  });

  it('have unions in the words of strict schemas', () => {
    const union = [text, closed({ b: text })];
    expect(
      fit(closed({ a: { oneOf: union, discriminator: { propertyName: 'b' } } }), true),
    ).toEqual({
      schema: closed({ a: { anyOf: union } }),
      strict: true,
      losses: [],
    });
  });

  it.each([
    [{ ...closed({ a: text, b: text }), required: ['a'] }],
    [{ type: 'object', properties: { a: text }, required: ['a'] }],
    [closed({ a: { type: 'object', properties: {} } })],
    [closed({ a: { type: 'array', items: { ...closed({ b: text }), required: [] } } })],
    [closed({ a: { allOf: [text] } })],
    [closed({ a: {} })],
    [closed({ a: { ...text, format: 'uri' } })],
  ])('are not where the upstream would refuse that: %j', (schema) => {
    expect(fit(schema, true)).toEqual({ schema, strict: false, losses: ['tool.strict'] });
    expect(fit(schema, false)).toEqual({ schema, strict: false, losses: [] });
  });
});
