import { arrayAt, isObject, type JsonObject } from '../json.ts';

/** Deeper than any sensible tool. Stops recursive schemas. */
const maxDepth = 6;

/** A value for a JSON Schema with ordinary keywords. The same schema gives the same value. */
export function exampleFor(schema: unknown, name = 'value'): unknown {
  return example(schema, name, schema, 0);
}

function example(given: unknown, name: string, root: unknown, depth: number): unknown {
  const schema = resolve(given, root);
  if (!isObject(schema) || depth > maxDepth) return null;
  for (const key of ['const', 'default', 'example'] as const) {
    if (schema[key] !== undefined) return schema[key];
  }
  if (Array.isArray(schema['enum']) && schema['enum'].length > 0) return schema['enum'][0];
  const type = typeOf(schema);
  if (type === undefined) {
    const branch = [...arrayAt(schema, 'anyOf'), ...arrayAt(schema, 'oneOf')][0];
    if (branch !== undefined) return example(branch, name, root, depth + 1);
  }
  switch (type) {
    case 'object':
      return exampleObject(schema, root, depth);
    case 'array':
      return Array.from({ length: Math.max(1, numberAt(schema, 'minItems', 1)) }, () =>
        example(schema['items'] ?? { type: 'string' }, name, root, depth + 1),
      );
    case 'integer':
      return Math.ceil(numberAt(schema, 'minimum', numberAt(schema, 'exclusiveMinimum', 0) + 1));
    case 'number':
      return numberAt(schema, 'minimum', numberAt(schema, 'exclusiveMinimum', 0) + 0.5);
    case 'boolean':
      return true;
    case 'null':
      return null;
    default:
      return exampleString(schema, name);
  }
}

function exampleObject(schema: JsonObject, root: unknown, depth: number): JsonObject {
  const result: JsonObject = {};
  for (const source of [schema, ...arrayAt(schema, 'allOf').map((part) => resolve(part, root))]) {
    const properties =
      isObject(source) && isObject(source['properties']) ? source['properties'] : {};
    for (const [key, value] of Object.entries(properties)) {
      result[key] = example(value, key, root, depth + 1);
    }
  }
  return result;
}

function exampleString(schema: JsonObject, name: string): string {
  if (schema['format'] === 'date-time') return '2026-01-01T00:00:00Z';
  if (schema['format'] === 'date') return '2026-01-01';
  const text = `demo ${name}`;
  const limit = numberAt(schema, 'maxLength', text.length);
  return text.slice(0, limit).padEnd(numberAt(schema, 'minLength', 0), '.');
}

function typeOf(schema: JsonObject): string | undefined {
  const { type } = schema;
  const named = Array.isArray(type) ? type.find((entry) => entry !== 'null') : type;
  if (typeof named === 'string') return named.toLowerCase();
  return isObject(schema['properties']) || Array.isArray(schema['allOf']) ? 'object' : undefined;
}

function resolve(schema: unknown, root: unknown): unknown {
  const reference = isObject(schema) ? schema['$ref'] : undefined;
  if (typeof reference !== 'string' || !reference.startsWith('#/')) return schema;
  let target: unknown = root;
  for (const step of reference.slice(2).split('/'))
    target = isObject(target) ? target[step] : undefined;
  return target;
}

function numberAt(schema: JsonObject, key: string, otherwise: number): number {
  const value = Number(schema[key]);
  return schema[key] !== undefined && Number.isFinite(value) ? value : otherwise;
}
