import { isAbsent, isRecord, type JsonRecord } from './values.ts';

const unions = ['oneOf', 'anyOf', 'allOf'] as const;

/**
 * The schema of a tool's arguments as most upstreams require it: an object with properties and no union at the top.
 * The members of a union become optional properties with their own schemas.
 * @param onChange called if the schema now allows other arguments than before
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

/** Whether the schema can be that of an object: its type is not another one, and its properties have names. */
export function canBeArguments({ type, properties }: JsonRecord): boolean {
  if (!isAbsent(properties) && !isRecord(properties)) return false;
  const types: readonly unknown[] = Array.isArray(type) ? type : [type];
  return types.some(
    (name) => isAbsent(name) || (typeof name === 'string' && name.toLowerCase() === 'object'),
  );
}
