import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isRecord, type JsonRecord } from '../../../shared/values.ts';
import { toDialect as rewriteSchema, toParameters as rewriteParameters } from './json-schema.ts';
import { openBudget } from '#json/index.ts';
import { fromDialect } from './schema-dialect.ts';

/** Written from the API's reference, not from the code under test. */
const allowed = new Set(
  [
    'type format title description nullable enum items properties required propertyOrdering anyOf',
    'default example minItems maxItems minLength maxLength minProperties maxProperties',
    'minimum maximum pattern',
  ].flatMap((names) => names.split(' ')),
);
const types = new Set<unknown>([
  'STRING',
  'NUMBER',
  'INTEGER',
  'BOOLEAN',
  'ARRAY',
  'OBJECT',
  'NULL',
]);

/** The reasons for which the API would refuse a schema. */
function complaints(schema: unknown, place = '$'): string[] {
  if (!isRecord(schema)) return [`${place} is no schema`];
  const found = Object.keys(schema)
    .filter((name) => !allowed.has(name))
    .map((name) => `${place}: unknown name ${name}`);
  const { type, anyOf, items, properties, required, propertyOrdering } = schema;
  if (type === undefined ? anyOf === undefined : !types.has(type)) {
    found.push(`${place}: type ${JSON.stringify(type)}`);
  }
  const values = schema['enum'];
  if (values !== undefined) {
    const fits = Array.isArray(values) && values.length > 0;
    if (!fits || !values.every((value) => typeof value === 'string' && value !== '')) {
      found.push(`${place}: enum`);
    }
    if (type !== 'STRING') found.push(`${place}: enum of ${JSON.stringify(type)}`);
  }
  if (type === 'ARRAY' && items === undefined) found.push(`${place}: items missing`);
  const names = isRecord(properties) ? Object.keys(properties) : [];
  for (const list of [required, propertyOrdering]) {
    if (list !== undefined && !(list as unknown[]).every((name) => names.includes(String(name)))) {
      found.push(`${place}: names a property that is not there`);
    }
  }
  if (items !== undefined) found.push(...complaints(items, `${place}.items`));
  for (const member of Array.isArray(anyOf) ? anyOf : []) {
    found.push(...complaints(member, `${place}.anyOf`));
  }
  for (const name of names) {
    found.push(...complaints((properties as JsonRecord)[name], `${place}.${name}`));
  }
  return found;
}

const keywordNames = fc.constantFrom(
  '$schema',
  'const',
  'enum',
  'type',
  'properties',
  'not',
  'allOf',
  'propertyNames',
  '__proto__',
  'a',
  'b',
);
const scalar = fc.constantFrom<unknown>('x', '', 'é', 1, 0.5, true, null);
const typeName = fc.constantFrom(
  'string',
  'number',
  'integer',
  'boolean',
  'array',
  'object',
  'null',
);

const jsonSchema: fc.Arbitrary<JsonRecord> = fc.letrec<{ schema: JsonRecord }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.record({ type: typeName }),
    fc.record(
      {
        $schema: fc.constant('https://json-schema.org/draft/2020-12/schema'),
        $ref: fc.constantFrom('#', '#/$defs/a', '#/$defs/missing', 'https://example.com/x'),
        $defs: fc.dictionary(keywordNames, tie('schema'), { maxKeys: 2 }),
        type: fc.oneof(typeName, fc.uniqueArray(typeName, { maxLength: 3 })),
        const: scalar,
        enum: fc.array(scalar, { maxLength: 3 }),
        format: fc.constantFrom('date-time', 'uri', 'int32', 'enum'),
        description: fc.string(),
        default: scalar,
        examples: fc.array(scalar, { maxLength: 2 }),
        nullable: fc.boolean(),
        minimum: fc.integer(),
        exclusiveMinimum: fc.oneof(fc.integer(), fc.boolean()),
        multipleOf: fc.nat(),
        minLength: fc.nat(9),
        pattern: fc.constant('^a'),
        items: fc.oneof(tie('schema'), fc.boolean(), fc.array(tie('schema'), { maxLength: 2 })),
        uniqueItems: fc.boolean(),
        properties: fc.dictionary(keywordNames, fc.oneof(tie('schema'), fc.boolean()), {
          maxKeys: 3,
        }),
        required: fc.array(keywordNames, { maxLength: 3 }),
        additionalProperties: fc.oneof(fc.boolean(), tie('schema')),
        patternProperties: fc.dictionary(fc.string(), tie('schema'), { maxKeys: 1 }),
        propertyNames: tie('schema'),
        anyOf: fc.array(tie('schema'), { maxLength: 3 }),
        oneOf: fc.array(tie('schema'), { maxLength: 3 }),
        allOf: fc.array(tie('schema'), { maxLength: 2 }),
        not: tie('schema'),
        if: tie('schema'),
      },
      { requiredKeys: [] },
    ),
  ) as fc.Arbitrary<JsonRecord>,
})).schema;

const toDialect = (schema: JsonRecord) => rewriteSchema(schema, openBudget(1_048_576));
const toParameters = (schema: JsonRecord) => rewriteParameters(schema, openBudget(1_048_576));

describe('JSON Schema in the API’s own language', () => {
  it('K45: has only keywords that the API knows, at every depth', () => {
    fc.assert(
      fc.property(jsonSchema, (schema) => {
        expect(complaints(toDialect(schema).schema)).toEqual([]);
        const { schema: parameters } = toParameters(schema);
        if (parameters !== null) {
          expect(complaints(parameters)).toEqual([]);
          expect(parameters['type']).toBe('OBJECT');
        }
      }),
      { numRuns: 500 },
    );
  });

  it('K45: keeps properties with the names of keywords', () => {
    const properties = Object.fromEntries(
      ['$schema', 'const', 'not', '__proto__', 'properties'].map((name) => [
        name,
        { type: 'string' },
      ]),
    );
    const schema = { type: 'object', properties, required: ['const', '__proto__'] };
    expect(toParameters(schema)).toEqual({
      schema: {
        type: 'OBJECT',
        properties: Object.fromEntries(
          Object.keys(properties).map((name) => [name, { type: 'STRING' }]),
        ),
        required: ['const', '__proto__'],
      },
      approximated: false,
      widened: false,
    });
  });

  it.each<[string, JsonRecord, JsonRecord]>([
    ['a nullable type', { type: ['string', 'null'] }, { type: 'STRING', nullable: true }],
    [
      'several types',
      { type: ['string', 'integer', 'null'], enum: ['a', 1, null], description: 'd' },
      {
        anyOf: [
          { type: 'STRING', enum: ['a'] },
          { type: 'INTEGER', minimum: 1, maximum: 1 },
        ],
        nullable: true,
        description: 'd',
      },
    ],
    ['a constant', { const: 'a' }, { type: 'STRING', enum: ['a'] }],
    ['a whole bound', { type: 'integer', exclusiveMinimum: 0 }, { type: 'INTEGER', minimum: 1 }],
    [
      'a bound that cannot be said',
      { type: 'number', exclusiveMinimum: 0, description: 'size' },
      { type: 'NUMBER', minimum: 0, description: 'size (exclusiveMinimum: 0)' },
    ],
    [
      'alternatives with null',
      { oneOf: [{ type: 'boolean' }, { type: 'null' }] },
      { type: 'BOOLEAN', nullable: true },
    ],
    [
      'a reference',
      { $ref: '#/$defs/a', $defs: { a: { type: 'string' } }, description: 'd' },
      { type: 'STRING', description: 'd' },
    ],
    [
      'parts of a whole',
      {
        allOf: [
          { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
          { properties: { b: { type: 'number' } }, required: ['b', 'c'] },
        ],
      },
      {
        type: 'OBJECT',
        properties: { a: { type: 'STRING' }, b: { type: 'NUMBER' } },
        required: ['a', 'b'],
        propertyOrdering: ['a', 'b'],
      },
    ],
    [
      'numbers to choose from',
      { enum: [1, 2] },
      { type: 'INTEGER', description: '(one of: [1,2])' },
    ],
    ['an upper-case type', { type: 'STRING' }, { type: 'STRING' }],
  ])('%s', (_, schema, expected) => {
    expect(toDialect(schema).schema).toEqual(expected);
  });

  it('cuts a recursive schema, and reports that it allows more', () => {
    const tree = { type: 'object', properties: { next: { $ref: '#' } } };
    expect(toDialect(tree)).toMatchObject({ widened: true });
    expect(complaints(toDialect(tree).schema)).toEqual([]);
  });

  it('bounds the growth of references', () => {
    const level = (index: number) => ({
      type: 'object',
      properties: { a: { $ref: `#/$defs/${index}` }, b: { $ref: `#/$defs/${index}` } },
    });
    const $defs = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [i, level(i + 1)]));
    const { schema, widened } = toDialect({ $ref: '#/$defs/0', $defs });
    expect(widened).toBe(true);
    expect(JSON.stringify(schema).length).toBeLessThan(10_000_000);
  });

  it('K18: sends no parameters rather than an object without properties', () => {
    for (const schema of [{}, { type: 'object', properties: {} }, { type: ['object', 'null'] }]) {
      const nothing = { schema: null, approximated: false, widened: false };
      expect(toParameters(schema)).toEqual(nothing);
    }
  });

  it('reports arguments that cannot be an object', () => {
    for (const schema of [{ type: 'array', items: {} }, { properties: [] }, { $ref: '#' }]) {
      expect(toParameters(schema)).toEqual({ schema: null, approximated: true, widened: true });
    }
  });

  it('merges alternatives of the arguments', () => {
    const one = { properties: { a: { type: 'string' } }, required: ['a'] };
    const other = { properties: { b: { type: 'string' } } };
    expect(toParameters({ type: 'object', anyOf: [one, other] }).schema).toEqual({
      type: 'OBJECT',
      properties: { a: { type: 'STRING' }, b: { type: 'STRING' } },
    });
  });
});

const dialectType = fc.constantFrom('STRING', 'NUMBER', 'INTEGER', 'BOOLEAN');
const flag = fc.constantFrom({}, { nullable: true });

/** Schemas in the API's dialect, as its own clients write them. */
const dialect: fc.Arbitrary<JsonRecord> = fc.letrec<{ schema: JsonRecord }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3 },
    fc.tuple(dialectType, flag).map(([type, nullable]) => ({ type, ...nullable })),
    fc
      .tuple(fc.uniqueArray(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 3 }), flag)
      .map(([values, nullable]) => ({ type: 'STRING', enum: values, ...nullable })),
    fc.tuple(tie('schema'), flag, fc.nat(9)).map(([items, nullable, minItems]) => ({
      type: 'ARRAY',
      items,
      minItems,
      ...nullable,
    })),
    fc
      .tuple(fc.dictionary(keywordNames, tie('schema'), { minKeys: 1, maxKeys: 3 }), flag)
      .map(([properties, nullable]) => {
        const names = Object.keys(properties);
        return {
          type: 'OBJECT',
          properties,
          required: names.slice(0, 1),
          ...(names.length > 1 ? { propertyOrdering: names } : {}),
          description: 'd',
          ...nullable,
        };
      }),
    fc.array(tie('schema'), { minLength: 2, maxLength: 3 }).map((anyOf) => ({ anyOf })),
  ),
})).schema;

it.each(['constructor', 'toString', '__proto__', 'date'])(
  'an unknown type %s is a string',
  (type) => {
    const { schema } = toDialect({ type: 'object', properties: { a: { type } } });
    expect(schema['properties']).toMatchObject({ a: { type: 'STRING' } });
  },
);

describe('the API’s own language as JSON Schema', () => {
  it('survives a round trip', () => {
    fc.assert(
      fc.property(dialect, (schema) => {
        const back = toDialect(fromDialect(schema));
        expect(back).toEqual({ schema, approximated: false, widened: false });
      }),
    );
  });

  it('K18: types are in lower case, `nullable` is a type, both spellings are read', () => {
    const schema = {
      type: 'OBJECT',
      properties: {
        b: { type: 'STRING', nullable: true, enum: ['x'], format: 'enum', min_length: '3' },
        a: { any_of: [{ type: 'NUMBER' }], nullable: true },
      },
      property_ordering: ['a', 'b'],
    };
    const lowered = fromDialect(schema);
    expect(lowered).toEqual({
      type: 'object',
      properties: {
        a: { anyOf: [{ type: 'number' }, { type: 'null' }] },
        b: { type: ['string', 'null'], enum: ['x', null], minLength: 3 },
      },
    });
    expect(Object.keys(lowered['properties'] as JsonRecord)).toEqual(['a', 'b']);
  });

  it('reads types given by number', () => {
    const properties = { a: { type: 1 }, b: { type: 5, items: { type: 3 } }, c: { type: 0 } };
    expect(fromDialect({ type: 6, properties })).toEqual({
      type: 'object',
      properties: {
        a: { type: 'string' },
        b: { type: 'array', items: { type: 'integer' } },
        c: {},
      },
    });
    expect(fromDialect({ type: 99 })).toEqual({ type: 99 });
  });
});
