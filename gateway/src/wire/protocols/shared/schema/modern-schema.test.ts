import { describe, expect, it } from 'vitest';
import { modernSchema } from './modern-schema.ts';
import type { JsonRecord } from '../values.ts';

describe('a schema of an earlier draft', () => {
  it.each<[string, JsonRecord, JsonRecord]>([
    [
      'a tuple',
      { type: 'array', items: [{ type: 'any' }, true], additionalItems: false },
      { type: 'array', prefixItems: [{}, true], items: false },
    ],
    ['an exclusive bound', { minimum: 1, exclusiveMinimum: true }, { exclusiveMinimum: 1 }],
    ['a bound that is not exclusive', { maximum: 1, exclusiveMaximum: false }, { maximum: 1 }],
    [
      'required properties by flag',
      { properties: { a: { type: 'string', required: true }, b: { required: false } } },
      { properties: { a: { type: 'string' }, b: {} }, required: ['a'] },
    ],
    ['required: null', { properties: {}, required: null }, { properties: {} }],
    ['the type any', { type: 'any', description: 'd' }, { description: 'd' }],
    ['an enum without values', { type: 'string', enum: [] }, { type: 'string' }],
    [
      'at any depth',
      { anyOf: [{ $defs: { a: { items: { enum: [] } } } }] },
      { anyOf: [{ $defs: { a: { items: {} } } }] },
    ],
  ])('%s', (_, schema, expected) => {
    expect(modernSchema(schema, () => {})).toEqual(expected);
  });

  it('tells of everything but a null', () => {
    let changes = 0;
    const count = (): void => {
      changes += 1;
    };
    modernSchema({ properties: { a: { required: null } }, required: null }, count);
    expect(changes).toBe(0);
    modernSchema({ properties: { a: { enum: [] } } }, count);
    expect(changes).toBe(1);
  });

  it('keeps names that only look like keywords, and the object itself if nothing changes', () => {
    const properties = { required: { const: true }, items: { type: 'array', items: {} } };
    const schema = { type: 'object', properties, required: ['items'], exclusiveMinimum: 0 };
    expect(modernSchema(schema, () => {})).toBe(schema);
    const own = JSON.parse('{"properties":{"__proto__":{"type":"any"}}}') as JsonRecord;
    expect(JSON.stringify(modernSchema(own, () => {}))).toBe('{"properties":{"__proto__":{}}}');
  });
});
