import { describe, expect, test } from 'vitest';
import { Unconvertible, type GenerationRequest } from '#canonical/index.ts';
import { textCodecs } from '#protocols/index.ts';
import { openBudget } from '#json/index.ts';
import { checkSchema } from '../../../simulator/src/generate-content/validate-schema.ts';
import { checkOutputSchema } from '../../../simulator/src/messages/validate-output-schema.ts';
import { strictFault } from '../../../simulator/src/openai/validate-strict-schema.ts';
import { requestOf, tool, user } from '../support/canonical.ts';
import { traitsOf } from '../support/upstream-traits.ts';

/*
 * One corpus for the schemas of all four targets. Each goes there as a strict tool and as a strict response format, and what
 * arrives is judged by the simulator, which knows the vendors' rules from their pages and refusals.
 */

type Schema = Readonly<Record<string, unknown>>;

/** A closed object that requires what it has. */
const object = (properties: Schema, others: Schema = {}): Schema => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
  ...others,
});
const text = { type: 'string' };
const number = { type: 'number' };
const cat = object({ kind: { const: 'cat' }, lives: { type: 'integer' } });
const dog = object({ kind: { const: 'dog' }, name: text });
const node = (child: Schema): Schema => object({ value: text, child });

interface Case {
  readonly name: string;
  readonly schema: Schema;
  /** How Claude gets it: `same`, `changed`, or not at all, with the reason. */
  readonly messages: string;
  /** Whether OpenAI's models are held to it. */
  readonly openai: boolean;
  /** How Gemini's own dialect says it. */
  readonly gemini: 'same' | 'changed' | 'widened';
}

const cases: readonly Case[] = [
  // Unions.
  {
    name: 'discriminated union of zod and pydantic',
    schema: object({ pet: { oneOf: [cat, dog], discriminator: { propertyName: 'kind' } } }),
    messages: 'same',
    openai: true,
    gemini: 'same',
  },
  {
    name: 'union with definitions',
    schema: object(
      { pet: { oneOf: [{ $ref: '#/$defs/Cat' }, { $ref: '#/$defs/Dog' }] } },
      { $defs: { Cat: cat, Dog: dog } },
    ),
    messages: 'same',
    openai: true,
    gemini: 'same',
  },
  {
    name: 'union beside its type',
    schema: object({ pet: { type: 'object', anyOf: [cat, dog] } }),
    messages: 'same',
    openai: false,
    gemini: 'same',
  },
  {
    name: 'union of what is required',
    schema: object({
      one: {
        type: 'object',
        properties: { a: text, b: text },
        anyOf: [{ required: ['a'] }, { required: ['b'] }],
      },
    }),
    messages: 'same',
    openai: false,
    gemini: 'same',
  },
  {
    name: 'anyOf and oneOf at one place',
    schema: object({ one: { anyOf: [cat, dog], oneOf: [cat, dog] } }),
    messages: 'changed',
    openai: false,
    gemini: 'widened',
  },
  {
    name: 'allOf of a reference, with words',
    schema: object(
      { pet: { allOf: [{ $ref: '#/$defs/Cat' }], description: 'the cat' } },
      { $defs: { Cat: cat } },
    ),
    messages: 'same',
    openai: false,
    gemini: 'same',
  },
  {
    name: 'allOf that extends',
    schema: object({
      pet: {
        allOf: [
          { type: 'object', properties: { a: text }, required: ['a'] },
          { properties: { b: text }, required: ['b'] },
        ],
      },
    }),
    messages: 'same',
    openai: false,
    gemini: 'same',
  },
  // Recursion.
  {
    name: 'recursion by a definition',
    schema: object(
      { tree: { $ref: '#/$defs/Node' } },
      { $defs: { Node: node({ anyOf: [{ $ref: '#/$defs/Node' }, { type: 'null' }] }) } },
    ),
    messages: "'$defs.Node.properties.child.anyOf.0' refers to itself",
    openai: true,
    gemini: 'widened',
  },
  {
    name: 'recursion to the root',
    schema: node({ anyOf: [{ $ref: '#' }, { type: 'null' }] }),
    messages: "'properties.child.anyOf.0' refers to itself",
    openai: true,
    gemini: 'widened',
  },
  {
    name: 'recursion over two definitions',
    schema: object(
      { a: { $ref: '#/$defs/A' } },
      {
        $defs: {
          A: object({ b: { $ref: '#/$defs/B' } }),
          B: object({ a: { type: 'array', items: { $ref: '#/$defs/A' } } }),
        },
      },
    ),
    messages: "'$defs.B.properties.a.items' refers to itself",
    openai: true,
    gemini: 'widened',
  },
  {
    name: 'recursion by allOf',
    schema: object(
      { a: { $ref: '#/$defs/A' } },
      { $defs: { A: { allOf: [{ $ref: '#/$defs/A' }, cat] } } },
    ),
    messages: "'$defs.A' refers to itself",
    openai: false,
    gemini: 'widened',
  },
  // Definitions.
  {
    name: 'a definition used twice',
    schema: object(
      { a: { $ref: '#/$defs/Cat' }, b: { $ref: '#/$defs/Cat' } },
      { $defs: { Cat: cat } },
    ),
    messages: 'same',
    openai: true,
    gemini: 'same',
  },
  {
    name: 'definitions of an earlier draft',
    schema: object({ a: { $ref: '#/definitions/Cat' } }, { definitions: { Cat: cat } }),
    messages: 'same',
    openai: true,
    gemini: 'same',
  },
  {
    name: 'the root is a reference',
    schema: { $ref: '#/$defs/Cat', $defs: { Cat: cat } },
    messages: 'same',
    openai: false,
    gemini: 'same',
  },
  {
    name: 'reference to a property',
    schema: object({ a: cat, b: { $ref: '#/properties/a' } }),
    messages: 'same',
    openai: true,
    gemini: 'same',
  },
  {
    name: 'reference with words and a default',
    schema: object(
      { a: { $ref: '#/$defs/Cat', description: 'the first', default: null } },
      { $defs: { Cat: cat } },
    ),
    messages: 'same',
    openai: true,
    gemini: 'same',
  },
  {
    name: 'reference to nothing',
    schema: object({ a: { $ref: '#/$defs/Bird' } }),
    messages: `'properties.a' refers to "#/$defs/Bird", which is not in the schema`,
    openai: true,
    gemini: 'widened',
  },
  {
    name: 'reference to elsewhere',
    schema: object({ a: { $ref: 'https://example.com/cat.json' } }),
    messages: `'properties.a' refers to "https://example.com/cat.json", which is not in the schema`,
    openai: true,
    gemini: 'widened',
  },
  // Listed values.
  {
    name: 'enum of texts',
    schema: object({ a: { type: 'string', enum: ['x', 'y'] } }),
    messages: 'same',
    openai: true,
    gemini: 'same',
  },
  {
    name: 'enum of numbers',
    schema: object({ a: { type: 'integer', enum: [1, 2, 3] } }),
    messages: 'same',
    openai: true,
    gemini: 'changed',
  },
  {
    name: 'enum with null',
    schema: object({ a: { type: ['string', 'null'], enum: ['x', null] } }),
    messages: 'same',
    openai: true,
    gemini: 'same',
  },
  {
    name: 'enum of objects',
    schema: object({
      a: { type: 'object', properties: { x: number }, required: ['x'], enum: [{ x: 1 }] },
    }),
    messages: 'changed',
    openai: false,
    gemini: 'same',
  },
  {
    name: 'const of a number',
    schema: object({ a: { const: 7 } }),
    messages: 'same',
    openai: true,
    gemini: 'same',
  },
  // Objects.
  {
    name: 'an object that is not closed',
    schema: { type: 'object', properties: { a: text, b: text }, required: ['a'] },
    messages: 'same',
    openai: false,
    gemini: 'same',
  },
  {
    name: 'additional properties beside its own',
    schema: object({ a: text }, { additionalProperties: true }),
    messages: 'changed',
    openai: false,
    gemini: 'same',
  },
  {
    name: 'any names',
    schema: object({ map: { type: 'object', additionalProperties: text } }),
    messages: "'properties.map' allows properties of any name",
    openai: false,
    gemini: 'changed',
  },
  {
    name: 'any object',
    schema: object({ any: { type: 'object' } }),
    messages: "'properties.any' allows properties of any name",
    openai: false,
    gemini: 'same',
  },
  {
    name: 'patterns of names',
    schema: object({ map: { type: 'object', patternProperties: { '^x': text } } }),
    messages: "'properties.map' allows properties of any name",
    openai: false,
    gemini: 'widened',
  },
  {
    name: 'any value',
    schema: object({ any: {} }),
    messages: "'properties.any' allows any value",
    openai: false,
    gemini: 'changed',
  },
  {
    name: 'any value, with words',
    schema: object({ any: { description: 'anything' } }),
    messages: "'properties.any' allows any value",
    openai: false,
    gemini: 'changed',
  },
  {
    name: 'no arguments',
    schema: object({ a: object({}) }),
    messages: 'same',
    openai: true,
    gemini: 'same',
  },
  {
    name: 'a condition',
    schema: object(
      { a: text },
      { if: { properties: { a: { const: 'x' } } }, else: { required: ['b'] } },
    ),
    messages: 'changed',
    openai: false,
    gemini: 'widened',
  },
  {
    name: 'what must not be',
    schema: object({ a: { type: 'string', not: { const: 'x' } } }),
    messages: 'changed',
    openai: false,
    gemini: 'widened',
  },
  // Null.
  {
    name: 'a list of types with null',
    schema: object({ a: { type: ['string', 'null'] } }),
    messages: 'same',
    openai: true,
    gemini: 'same',
  },
  {
    name: 'a list of types with null and a format',
    schema: object({ a: { type: ['string', 'null'], format: 'date' } }),
    messages: 'same',
    openai: true,
    gemini: 'same',
  },
  {
    name: 'an object or null',
    schema: object({ a: { ...cat, type: ['object', 'null'] } }),
    messages: 'same',
    openai: true,
    gemini: 'same',
  },
  {
    name: 'nullable of OpenAPI',
    schema: object({ a: { type: 'string', nullable: true } }),
    messages: 'same',
    openai: false,
    gemini: 'same',
  },
  {
    name: 'a union with null',
    schema: object({ a: { anyOf: [text, { type: 'null' }] } }),
    messages: 'same',
    openai: true,
    gemini: 'same',
  },
  // Formats, bounds.
  {
    name: 'a known format',
    schema: object({ a: { type: 'string', format: 'date-time' } }),
    messages: 'same',
    openai: true,
    gemini: 'same',
  },
  {
    name: 'the format of addresses',
    schema: object({ a: { type: 'string', format: 'uri' } }),
    messages: 'same',
    openai: false,
    gemini: 'same',
  },
  {
    name: 'an unknown format',
    schema: object({ a: { type: 'string', format: 'phone' } }),
    messages: 'changed',
    openai: false,
    gemini: 'same',
  },
  {
    name: 'the format of a number',
    schema: object({ a: { type: 'integer', format: 'int32' } }),
    messages: 'same',
    openai: false,
    gemini: 'same',
  },
  {
    name: 'a pattern',
    schema: object({ a: { type: 'string', pattern: '^[a-z]{2,3}$' } }),
    messages: 'same',
    openai: true,
    gemini: 'same',
  },
  {
    name: 'a pattern that looks ahead',
    schema: object({ a: { type: 'string', pattern: '^(?=.*x)' } }),
    messages: 'changed',
    openai: true,
    gemini: 'same',
  },
  {
    name: 'lengths',
    schema: object({ a: { type: 'string', minLength: 1, maxLength: 9 } }),
    messages: 'changed',
    openai: false,
    gemini: 'same',
  },
  {
    name: 'bounds',
    schema: object({ a: { type: 'integer', minimum: 0, maximum: 9 } }),
    messages: 'changed',
    openai: true,
    gemini: 'same',
  },
  {
    name: 'a default',
    schema: object({ a: { type: 'string', default: 'x' } }),
    messages: 'same',
    openai: true,
    gemini: 'same',
  },
  {
    name: 'numbers of elements',
    schema: object({ a: { type: 'array', items: text, minItems: 1, maxItems: 3 } }),
    messages: 'changed',
    openai: true,
    gemini: 'same',
  },
  {
    name: 'an element at least',
    schema: object({ a: { type: 'array', items: text, minItems: 1 } }),
    messages: 'same',
    openai: true,
    gemini: 'same',
  },
  // Lists.
  {
    name: 'a tuple',
    schema: object({ a: { type: 'array', prefixItems: [text, number], minItems: 2, maxItems: 2 } }),
    messages: 'changed',
    openai: false,
    gemini: 'changed',
  },
  {
    name: 'a tuple of an earlier draft',
    schema: object({ a: { type: 'array', items: [number, number], additionalItems: false } }),
    messages: 'changed',
    openai: false,
    gemini: 'changed',
  },
  {
    name: 'a list of anything',
    schema: object({ a: { type: 'array' } }),
    messages: "'properties.a' allows a list of anything",
    openai: false,
    gemini: 'changed',
  },
  // Limits of one request.
  {
    name: '24 optional properties',
    schema: object(many(24, text), { required: [] }),
    messages: 'same',
    openai: false,
    gemini: 'same',
  },
  {
    name: '25 optional properties',
    schema: object(many(25, text), { required: [] }),
    messages: 'it has 25 optional properties, of which 24 are possible',
    openai: false,
    gemini: 'same',
  },
  {
    name: '16 unions',
    schema: object(many(16, { type: ['string', 'null'] })),
    messages: 'same',
    openai: true,
    gemini: 'same',
  },
  {
    name: '17 unions',
    schema: object(many(17, { type: ['string', 'null'] })),
    messages: 'it has 17 unions, of which 16 are possible',
    openai: true,
    gemini: 'same',
  },
];

function many(count: number, schema: Schema): Schema {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, schema]));
}

const targets = {
  messages: ['anthropic', 'claude-sonnet-4-5'],
  chat: ['openai', 'gpt-4.1'],
  responses: ['openai', 'gpt-5.1'],
  'generate-content': ['gemini', 'gemini-2.0-flash'],
} as const;

function encode(protocol: keyof typeof targets, fields: Partial<GenerationRequest>) {
  const [vendor, model] = targets[protocol];
  const { json, losses } = textCodecs[protocol].encodeRequest(
    requestOf({ turns: [user('x')], ...fields }),
    {
      model,
      traits: traitsOf(vendor, model),
      budget: openBudget(100_000),
      maxOutputTokens: 1000,
      capabilities: new Set(),
      echoReasoning: null,
    },
  );
  return { json, losses: losses.map(({ what }) => what) };
}

const asTool = (schema: Schema) => ({ tools: [{ ...tool('f'), schema, strict: true }] });
const asFormat = (schema: Schema, strict: boolean | null = true) => ({
  format: { type: 'schema', name: 'n', description: null, schema, strict } as const,
});

const at = (value: unknown, ...path: readonly (string | number)[]): unknown =>
  path.reduce<unknown>(
    (inner, key) => (inner as Record<string | number, unknown> | undefined)?.[key],
    value,
  );

/** What the client gets, or the reason of a refusal. */
function refusalOf(run: () => unknown): string | null {
  try {
    run();
    return null;
  } catch (error) {
    if (error instanceof Unconvertible) return error.message;
    throw error;
  }
}

describe('at Claude', () => {
  test.each(cases)('a strict tool: $name', ({ schema, messages }) => {
    const { json, losses } = encode('messages', asTool(schema));
    const isHeld = messages === 'same' || messages === 'changed';
    expect(at(json, 'tools', 0, 'strict')).toBe(isHeld);
    expect(losses).toEqual({ same: [], changed: ['tool.schema'] }[messages] ?? ['tool.strict']);
    if (isHeld) checkOutputSchema(at(json, 'tools', 0, 'input_schema'), 'tool');
  });

  test.each(cases)('a response format: $name', ({ schema, messages }) => {
    if (messages !== 'same' && messages !== 'changed') {
      expect(refusalOf(() => encode('messages', asFormat(schema)))).toBe(
        `the schema cannot be enforced by this model, since ${messages}: please change it, or leave out strict`,
      );
      const { json, losses } = encode('messages', asFormat(schema, null));
      expect([at(json, 'output_config'), losses]).toEqual([undefined, ['response_format']]);
      expect(at(json, 'system', 0, 'text')).toContain(JSON.stringify(schema));
      return;
    }
    const { json, losses } = encode('messages', asFormat(schema));
    expect(losses).toEqual(messages === 'same' ? [] : ['response_format.schema']);
    checkOutputSchema(at(json, 'output_config', 'format', 'schema'), 'format');
  });

  test('the limits hold for the format and all tools together', () => {
    const strict = (name: string, properties: Schema) => ({
      ...tool(name),
      schema: object(properties),
      strict: true,
    });
    const union = { type: ['string', 'null'] };
    const { json, losses } = encode('messages', {
      ...asFormat(object(many(9, union))),
      tools: [strict('a', many(7, union)), strict('b', many(1, union)), strict('c', { x: text })],
    });
    expect((at(json, 'tools') as Schema[]).map(({ strict: held }) => held)).toEqual([
      true,
      false,
      true,
    ]);
    expect(losses).toEqual(['tool.strict']);
  });

  test('twenty tools are strict at most', () => {
    const tools = Array.from({ length: 21 }, (_, count) => ({
      ...tool(`t${count}`),
      schema: object({ a: text }),
      strict: true,
    }));
    const { json, losses } = encode('messages', { tools });
    const held = (at(json, 'tools') as Schema[]).filter(({ strict }) => strict === true);
    expect([held.length, losses]).toEqual([20, ['tool.strict']]);
  });
});

describe.each(['chat', 'responses'] as const)('at OpenAI, %s', (protocol) => {
  const member = protocol === 'chat' ? ['function'] : [];

  test.each(cases)('a strict tool: $name', ({ schema, openai }) => {
    const { json } = encode(protocol, asTool(schema));
    expect(at(json, 'tools', 0, ...member, 'strict')).toBe(openai);
    const parameters = at(json, 'tools', 0, ...member, 'parameters');
    if (openai) expect(strictFault(parameters)).toBe(null);
  });

  test.each(cases.filter(({ openai }) => openai))('a response format: $name', ({ schema }) => {
    const { json } = encode(protocol, asFormat(schema));
    const format = at(
      json,
      ...(protocol === 'chat' ? ['response_format', 'json_schema'] : ['text', 'format']),
    );
    expect(strictFault(at(format, 'schema'))).toBe(null);
  });
});

describe('at Gemini', () => {
  test.each(cases)('a response format: $name', ({ schema, gemini }) => {
    expect(refusalOf(() => encode('generate-content', asFormat(schema))) !== null).toBe(
      gemini === 'widened',
    );
    const { json, losses } = encode('generate-content', asFormat(schema, null));
    checkSchema(at(json, 'generationConfig', 'responseSchema'), 'response_schema');
    expect(losses).toEqual(gemini === 'same' ? [] : ['response_format.schema']);
  });

  test.each(cases)('a tool: $name', ({ schema }) => {
    const { json } = encode('generate-content', asTool(schema));
    const parameters = at(json, 'tools', 0, 'functionDeclarations', 0, 'parameters');
    expect(() => checkSchema(parameters, 'parameters')).not.toThrow();
  });
});
