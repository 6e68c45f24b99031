import { describe, expect, it } from 'vitest';
import type { JsonRecord } from '../../../shared/values.ts';
import { mapSchema } from './map-schema.ts';

const text = { type: 'string' };
const labels = { type: 'object', additionalProperties: text };

describe('objects with any names', () => {
  it('are kept as JSON Schema, at any depth', () => {
    expect(
      mapSchema({ $schema: 'https://json-schema.org/draft/2020-12/schema', ...labels }),
    ).toEqual(labels);
    const nested = {
      type: 'object',
      properties: { a: { type: 'array', items: labels }, additionalProperties: text },
      $defs: { b: { anyOf: [text, labels] } },
      required: ['a'],
    };
    expect(mapSchema(nested)).toEqual(nested);
  });

  it.each<[string, JsonRecord]>([
    ['a closed object', { type: 'object', properties: { a: text }, additionalProperties: false }],
    ['a property of that name', { type: 'object', properties: { additionalProperties: text } }],
    ['anything', { type: 'object', additionalProperties: {} }],
    ['words that the API does not know', { ...labels, minProperties: 1 }],
  ])('%s is no such schema, or cannot be kept', (_, schema) => {
    expect(mapSchema(schema)).toBeNull();
  });
});
