import { isRecord, type JsonRecord } from '../../../shared/values.ts';

/**
 * What the API's members for JSON Schema take, by its reference
 * (https://ai.google.dev/api/generate-content#v1beta.GenerationConfig, `responseJsonSchema`).
 */
const mapKeywords: ReadonlySet<string> = new Set(
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
  const findings = { isMap: false, isKnown: true };
  look(schema, findings);
  return findings.isMap && findings.isKnown ? (withoutIdle(schema) as JsonRecord) : null;
}

interface Found {
  isMap: boolean;
  isKnown: boolean;
}

/** Members whose value is a schema, a list of schemas, or a map of schemas. */
const inner: ReadonlySet<string> = new Set([
  'items',
  'additionalProperties',
  'anyOf',
  'oneOf',
  'prefixItems',
]);
const maps: ReadonlySet<string> = new Set(['properties', '$defs']);

function look(schema: unknown, findings: Found): void {
  if (!isRecord(schema)) return;
  for (const name in schema) {
    const value = schema[name];
    if (maps.has(name)) {
      if (isRecord(value)) for (const key in value) look(value[key], findings);
    } else if (inner.has(name)) {
      if (Array.isArray(value)) for (const each of value) look(each, findings);
      else look(value, findings);
    } else if (name !== idle && !mapKeywords.has(name)) findings.isKnown = false;
  }
  const { additionalProperties: others } = schema;
  if (isRecord(others) && Object.keys(others).length > 0) findings.isMap = true;
}

function withoutIdle(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutIdle);
  if (!isRecord(schema)) return schema;
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([name]) => name !== idle)
      .map(([name, value]) => [name, readMember(name, value)] as const),
  );
}

function readMember(name: string, value: unknown): unknown {
  if (inner.has(name)) return withoutIdle(value);
  if (!maps.has(name) || !isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, schema]) => [key, withoutIdle(schema)] as const),
  );
}
