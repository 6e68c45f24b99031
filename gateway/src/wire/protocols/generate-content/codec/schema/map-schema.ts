import { isRecord, type JsonRecord } from '../../../values.ts';

/**
 * What the API's members for JSON Schema take, by its reference
 * (https://ai.google.dev/api/generate-content#v1beta.GenerationConfig, `responseJsonSchema`).
 */
const known: ReadonlySet<string> = new Set(
  [
    '$id $defs $ref $anchor type format title description enum items prefixItems minItems maxItems',
    'minimum maximum anyOf oneOf properties additionalProperties required propertyOrdering',
  ].flatMap((names) => names.split(' ')),
);
/** It says what is true of the document, not what a value must be. */
const idle = '$schema';

/**
 * A schema with objects that have any names (`additionalProperties` with a schema), for which the API's own dialect has no
 * word, if its JSON Schema has words for the rest. Null for any other schema.
 */
export function mapSchema(schema: JsonRecord): JsonRecord | null {
  const found = { isMap: false, isKnown: true };
  const copy = read(schema, found);
  return found.isMap && found.isKnown ? (copy as JsonRecord) : null;
}

interface Found {
  isMap: boolean;
  isKnown: boolean;
}

function read(schema: unknown, found: Found): unknown {
  if (!isRecord(schema)) return schema;
  const entries = Object.entries(schema).filter(([name]) => name !== idle);
  for (const [name] of entries) if (!known.has(name)) found.isKnown = false;
  const { additionalProperties: others } = schema;
  if (isRecord(others) && Object.keys(others).length > 0) found.isMap = true;
  return Object.fromEntries(
    entries.map(([name, value]) => [name, readMember(name, value, found)] as const),
  );
}

function readMember(name: string, value: unknown, found: Found): unknown {
  if (name === 'properties' || name === '$defs') {
    if (!isRecord(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [key, read(inner, found)]),
    );
  }
  if (Array.isArray(value) && ['anyOf', 'oneOf', 'prefixItems'].includes(name)) {
    return value.map((inner: unknown) => read(inner, found));
  }
  return name === 'items' || name === 'additionalProperties' ? read(value, found) : value;
}
