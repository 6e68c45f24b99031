import { isRecord, type JsonRecord } from './values.ts';

const unions = ['oneOf', 'anyOf', 'allOf'] as const;

/**
 * The schema of a tool's arguments as most upstreams demand it: an object with properties, no union at the top. The
 * members of a union become optional properties; each keeps its own schema.
 * @param onChange hears of what now takes other arguments than before
 */
export function encodeToolSchema(schema: JsonRecord | null, onChange: () => void): JsonRecord {
  if (schema === null) return { type: 'object', properties: {} };
  const present = unions.filter((name) => Array.isArray(schema[name]));
  if (present.length === 0 && schema['type'] === 'object' && isRecord(schema['properties'])) {
    return schema;
  }
  const properties: Record<string, unknown> = {};
  const { oneOf, anyOf, allOf, ...others } = schema;
  for (const branches of [oneOf, anyOf, allOf]) {
    if (!Array.isArray(branches)) continue;
    onChange();
    for (const branch of branches as unknown[]) {
      if (isRecord(branch) && isRecord(branch['properties'])) {
        Object.assign(properties, branch['properties']);
      }
    }
  }
  if (isRecord(schema['properties'])) Object.assign(properties, schema['properties']);
  return { ...others, type: 'object', properties };
}
