import { describe, expect, it } from 'vitest';
import { mergeArguments } from './tool-schema.ts';

const text = { type: 'string' };

describe('unions at the top of a function’s arguments', () => {
  it('have the constants of every branch and what every branch requires', () => {
    const branch = (kind: string, more: object, required: string[]) => ({
      type: 'object',
      properties: { kind: { type: 'string', const: kind }, id: text, ...more },
      required: ['kind', ...required],
    });
    const { schema, incomplete } = mergeArguments({
      oneOf: [
        branch('read', { path: text }, ['path', 'id']),
        branch('write', { path: { type: 'array', items: text } }, ['id']),
      ],
      description: 'd',
    });
    expect(incomplete).toBe(false);
    expect(schema).toEqual({
      description: 'd',
      type: 'object',
      properties: {
        kind: { type: 'string', enum: ['read', 'write'] },
        id: text,
        path: { anyOf: [text, { type: 'array', items: text }] },
      },
      required: ['kind', 'id'],
    });
  });

  it('follow references, also from branch to branch', () => {
    const { schema, incomplete } = mergeArguments({
      anyOf: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/b' }],
      $defs: {
        a: { properties: { a: text, both: text }, required: ['a', 'both'] },
        b: { allOf: [{ $ref: '#/$defs/c' }, { properties: { b: text }, required: ['b'] }] },
        c: { properties: { both: text }, required: ['both'] },
      },
    });
    expect(incomplete).toBe(false);
    expect(schema).toMatchObject({ properties: { a: text, b: text, both: text } });
    expect(schema['required']).toEqual(['both']);
    expect(schema).not.toHaveProperty('anyOf');
  });

  it('end for schemas that contain themselves or refer to nothing', () => {
    for (const reference of ['#', '#/$defs/a', '#/nowhere', 'https://example.com/x']) {
      const { schema, incomplete } = mergeArguments({
        anyOf: [{ $ref: reference }, { properties: { a: text } }],
        $defs: { a: { allOf: [{ $ref: '#/$defs/a' }] } },
      });
      expect(incomplete).toBe(true);
      expect(schema['properties']).toEqual({ a: text });
    }
  });

  it('cost a bounded amount, however the references multiply', () => {
    const properties = Object.fromEntries(Array.from({ length: 400 }, (_, i) => [`p${i}`, text]));
    const level = (at: number) => ({
      anyOf: [{ $ref: `#/$defs/${at}` }, { allOf: [{ $ref: `#/$defs/${at}` }] }],
    });
    const $defs = Object.fromEntries(
      Array.from({ length: 500 }, (_, at) => [at, at === 499 ? { properties } : level(at + 1)]),
    );
    expect(mergeArguments({ $ref: '#/$defs/0', $defs }).incomplete).toBe(true);
    const links = Array.from({ length: 20_000 }, (_, at) => [at, { $ref: `#/$defs/${at + 1}` }]);
    const chain = { $ref: '#/$defs/0', $defs: Object.fromEntries(links) as object };
    expect(mergeArguments(chain).incomplete).toBe(true);
  });
});
