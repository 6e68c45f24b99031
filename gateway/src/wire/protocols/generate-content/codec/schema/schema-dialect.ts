import { isRecord, type JsonRecord } from '../../../shared/values.ts';
import { member, otherMembers } from '../../fields.ts';

/**
 * Rewrites the protocol's dialect, a subset of OpenAPI 3.0 (https://ai.google.dev/api/caching#Schema), as JSON Schema:
 * types in lower case, `nullable` as a type, counts as numbers, `propertyOrdering` as the order of the properties.
 * Other keywords stay unchanged.
 */
export function fromDialect(schema: JsonRecord): JsonRecord {
  const result: Record<string, unknown> = {};
  const type = namedType(member(schema, 'type'));
  const nullable = member(schema, 'nullable') === true;
  if (typeof type === 'string' && type.toUpperCase() !== 'TYPE_UNSPECIFIED') {
    const lower = type.toLowerCase();
    result['type'] = nullable && lower !== 'null' ? [lower, 'null'] : lower;
  } else if (type !== undefined && typeof type !== 'string') result['type'] = type;
  for (const [name, value] of otherMembers(schema, rewritten)) {
    result[name] = counts.has(name) && typeof value === 'string' ? Number(value) : value;
  }
  const values = member(schema, 'enum');
  if (Array.isArray(values)) {
    result['enum'] = nullable && !values.includes(null) ? [...values, null] : values;
    if (result['format'] === 'enum') delete result['format'];
  }
  const properties = member(schema, 'properties');
  if (isRecord(properties)) {
    result['properties'] = fromProperties(properties, member(schema, 'propertyOrdering'));
  }
  const items = member(schema, 'items');
  if (items !== undefined) result['items'] = isRecord(items) ? fromDialect(items) : items;
  const choices = member(schema, 'anyOf');
  if (Array.isArray(choices)) {
    const members = choices.map((choice) => (isRecord(choice) ? fromDialect(choice) : choice));
    const open = nullable && result['type'] === undefined;
    result['anyOf'] = open ? [...members, { type: 'null' }] : members;
  }
  const example = member(schema, 'example');
  if (example !== undefined) result['examples'] = [example];
  return result;
}

/** In the enumeration's order: proto3 JSON writes its values by name or by number, and Vertex AI accepts both. */
const types = [
  'TYPE_UNSPECIFIED',
  'STRING',
  'NUMBER',
  'INTEGER',
  'BOOLEAN',
  'ARRAY',
  'OBJECT',
  'NULL',
] as const;

function namedType(type: unknown): unknown {
  return typeof type === 'number' ? (types[type] ?? type) : type;
}

const rewritten: ReadonlySet<string> = new Set([
  'type',
  'nullable',
  'enum',
  'properties',
  'propertyOrdering',
  'items',
  'anyOf',
  'example',
]);

/** 64-bit integers are text in proto3 JSON. */
const counts: ReadonlySet<string> = new Set([
  'minItems',
  'maxItems',
  'minLength',
  'maxLength',
  'minProperties',
  'maxProperties',
]);

function fromProperties(properties: JsonRecord, ordering: unknown): JsonRecord {
  const namedSchemas = Object.entries(properties).map(
    ([name, value]) => [name, isRecord(value) ? fromDialect(value) : value] as const,
  );
  if (!Array.isArray(ordering)) return Object.fromEntries(namedSchemas);
  const places = new Map(ordering.map((name, index) => [name, index]));
  const placeOf = (name: string) => places.get(name) ?? ordering.length;
  return Object.fromEntries(namedSchemas.toSorted(([a], [b]) => placeOf(a) - placeOf(b)));
}
