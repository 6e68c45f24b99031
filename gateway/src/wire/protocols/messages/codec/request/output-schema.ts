import { doubleOf } from '../../../exact-json.ts';
import { isRecord, type JsonRecord } from '../../../values.ts';

/** Keywords that the constrained decoder does not enforce. It refuses schemas with them. */
const unsupported = new Set([
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
  'propertyNames',
  'patternProperties',
  'contains',
]);

/** Keywords whose value is a schema, a list of schemas, or a map of schemas. */
const nested = new Set(['items', 'not', 'if', 'then', 'else']);
const lists = new Set(['anyOf', 'allOf', 'oneOf', 'prefixItems']);
const maps = new Set(['properties', '$defs', 'definitions']);

/**
 * Rewrites a response schema so that upstreams accept it: objects are closed, and constraints that they cannot enforce
 * move into the description. Calls `onChange` for every change of what the schema allows.
 */
export function encodeOutputSchema(schema: JsonRecord, onChange: () => void): JsonRecord {
  const encode = (value: unknown): unknown =>
    isRecord(value) ? encodeOutputSchema(value, onChange) : value;
  const encoded: Record<string, unknown> = {};
  const notes: string[] = [];
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === '$schema') continue;
    if (unsupported.has(keyword) || (keyword === 'minItems' && doubleOf(value) > 1)) {
      notes.push(`${keyword}: ${JSON.stringify(value)}`);
    } else if (nested.has(keyword)) encoded[keyword] = encode(value);
    else if (lists.has(keyword) && Array.isArray(value)) encoded[keyword] = value.map(encode);
    else if (maps.has(keyword) && isRecord(value)) {
      const entries = Object.entries(value).map(([name, inner]) => [name, encode(inner)]);
      encoded[keyword] = Object.fromEntries(entries);
    } else encoded[keyword] = value;
  }
  if (encoded['type'] === 'object' && encoded['additionalProperties'] !== false) {
    if (encoded['additionalProperties'] !== undefined) onChange();
    encoded['additionalProperties'] = false;
  }
  if (notes.length === 0) return encoded;
  onChange();
  const { description } = schema;
  const words = typeof description === 'string' ? [description] : [];
  return { ...encoded, description: [...words, `(${notes.join(', ')})`].join(' ') };
}
