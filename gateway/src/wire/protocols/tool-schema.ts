import { isAbsent, isRecord, type JsonRecord } from './values.ts';

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
  if (!canBeArguments(schema)) onChange();
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

/** Arguments are objects: false for a schema that says it is of anything else, or whose properties have no names. */
export function canBeArguments({ type, properties }: JsonRecord): boolean {
  if (!isAbsent(properties) && !isRecord(properties)) return false;
  const types: readonly unknown[] = Array.isArray(type) ? type : [type];
  return types.some(
    (name) => isAbsent(name) || (typeof name === 'string' && name.toLowerCase() === 'object'),
  );
}
