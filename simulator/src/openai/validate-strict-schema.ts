import { isObject, isPresent, objectAt, stringAt } from '../json.ts';

const keywords = new Set(
  (
    'type properties required additionalProperties items enum const anyOf $ref $defs definitions title description ' +
    'pattern format minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minItems maxItems $schema'
  ).split(' '),
);
const formats = 'date-time time date duration email hostname ipv4 ipv6 uuid'.split(' ');

/**
 * Why a strict schema is refused, in the vendor's words: https://platform.openai.com/docs/guides/structured-outputs#supported-schemas.
 * Null if it is not.
 */
export function strictFault(schema: unknown, context: readonly string[] = []): string | null {
  const place = `In context=(${context.map((name) => `'${name}'`).join(', ')})`;
  if (!isObject(schema)) return `${place}, schema must be an object.`;
  if (isPresent(schema['$ref'])) {
    const others = Object.keys(schema).filter((key) => key !== '$ref' && !key.endsWith('efs'));
    return others.length === 0 ? null : `${place}, $ref cannot have keywords {'${others[0]}'}.`;
  }
  const stranger = Object.keys(schema).find((key) => !keywords.has(key));
  if (stranger !== undefined) return `${place}, '${stranger}' is not permitted.`;
  const types = [schema['type']].flat();
  if (!['type', 'enum', 'const', 'anyOf'].some((key) => isPresent(schema[key]))) {
    return `${place}, schema must have a 'type' key.`;
  }
  const format = stringAt(schema, 'format');
  if (format !== '' && !formats.includes(format))
    return `${place}, '${format}' is not a valid format.`;
  if (types.includes('object')) {
    if (schema['additionalProperties'] !== false) {
      return `${place}, 'additionalProperties' is required to be supplied and to be false.`;
    }
    const required = Array.isArray(schema['required']) ? schema['required'] : [];
    const missing = Object.keys(objectAt(schema, 'properties')).find(
      (name) => !required.includes(name),
    );
    if (missing !== undefined) {
      return `${place}, 'required' is required to be supplied and to be an array including every key in properties. Missing '${missing}'.`;
    }
  }
  if (types.includes('array') && !isObject(schema['items'])) {
    return `${place}, array schema missing items.`;
  }
  const inner: [string, unknown][] = [
    ...['properties', '$defs', 'definitions'].flatMap((name) =>
      Object.entries(objectAt(schema, name)),
    ),
    ...(isObject(schema['items']) ? [['items', schema['items']] as [string, unknown]] : []),
    ...(Array.isArray(schema['anyOf']) ? schema['anyOf'] : []).map(
      (branch, at): [string, unknown] => [String(at), branch],
    ),
  ];
  for (const [name, member] of inner) {
    const fault = strictFault(member, [...context, name]);
    if (fault !== null) return fault;
  }
  return null;
}
