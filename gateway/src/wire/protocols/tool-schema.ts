import { mergeArguments } from './merged-arguments.ts';
import { modernSchema } from './modern-schema.ts';
import { isAbsent, isRecord, type JsonRecord } from './values.ts';

const unions = ['oneOf', 'anyOf', 'allOf'] as const;

/**
 * The schema of a tool's arguments as most upstreams require it: an object with properties and no union at the top.
 * The members of a union's branches become properties, required if every branch requires them.
 * @param onChange called if the schema now allows other arguments than before
 */
export function encodeToolSchema(declared: JsonRecord | null, onChange: () => void): JsonRecord {
  if (declared === null) return { type: 'object', properties: {} };
  const schema = modernSchema(declared, onChange);
  const present = unions.filter((name) => Array.isArray(schema[name]));
  const isPlain = present.length === 0 && schema['$ref'] === undefined;
  if (isPlain && schema['type'] === 'object' && isRecord(schema['properties'])) {
    return schema;
  }
  if (!canBeArguments(schema)) onChange();
  const { schema: merged, incomplete } = mergeArguments(schema);
  if (present.length > 0 || incomplete) onChange();
  return merged;
}

/** Whether the schema can be that of an object: its type is not another one, and its properties have names. */
export function canBeArguments({ type, properties }: JsonRecord): boolean {
  if (!isAbsent(properties) && !isRecord(properties)) return false;
  const types: readonly unknown[] = Array.isArray(type) ? type : [type];
  return types.some(
    (name) => isAbsent(name) || (typeof name === 'string' && name.toLowerCase() === 'object'),
  );
}
