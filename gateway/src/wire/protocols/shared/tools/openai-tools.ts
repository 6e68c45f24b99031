import type { FunctionTool, OutputFormat, Tool } from '#canonical/index.ts';
import type { Losses } from '../text/losses.ts';
import { mapInner } from '../schema/modern-schema.ts';
import { encodeToolSchema } from '../schema/tool-schema.ts';
import { isRecord, type JsonRecord } from '../values.ts';

/**
 * The tools by OpenAI's rules, which many servers of its protocols share: arguments are an object, an array declares
 * its items, and only a closed schema can be strict. One tool that breaks a rule would fail the whole request.
 */
export function fitTools(tools: readonly Tool[], losses: Losses): Tool[] {
  return tools.map((tool) => (tool.type === 'function' ? fitFunction(tool, losses) : tool));
}

function fitFunction(tool: FunctionTool, losses: Losses): FunctionTool {
  const object = encodeToolSchema(tool.schema, () => losses.approximated('tool.schema'));
  const schema = complete(object);
  if (tool.strict !== true) return { ...tool, schema };
  const strict = strictSchema(schema);
  if (leavesNothingOpen(strict)) return { ...tool, schema: strict };
  losses.approximated('tool.strict');
  return { ...tool, schema, strict: false };
}

/** A response format by the same rules, which name the first part of a strict schema that breaks one. */
export function fitFormat(format: OutputFormat): OutputFormat {
  return format.type === 'schema' && format.strict === true
    ? { ...format, schema: strictSchema(format.schema) }
    : format;
}

/** Adds missing `items`. */
function complete(schema: JsonRecord): JsonRecord {
  const inner = mapInner(schema, complete);
  const holds = inner['items'] !== undefined || inner['prefixItems'] !== undefined;
  return typesOf(inner).includes('array') && !holds ? { ...inner, items: {} } : inner;
}

function typesOf({ type }: JsonRecord): readonly unknown[] {
  return Array.isArray(type) ? type : [type];
}

/**
 * What a strict schema may hold: https://platform.openai.com/docs/guides/structured-outputs#supported-schemas. For anything
 * else: "'oneOf' is not permitted".
 */
const permitted: ReadonlySet<string> = new Set([
  'type',
  'properties',
  'required',
  'additionalProperties',
  'items',
  'enum',
  'const',
  'anyOf',
  '$ref',
  '$defs',
  'definitions',
  '$schema',
  'title',
  'description',
  'pattern',
  'format',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minItems',
  'maxItems',
]);

const formats: ReadonlySet<unknown> = new Set([
  'date-time',
  'time',
  'date',
  'duration',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'uuid',
]);

/** Not permitted either, and no value depends on them. */
const remarks: ReadonlySet<string> = new Set([
  'default',
  'example',
  'examples',
  'discriminator',
  'deprecated',
  'readOnly',
  'writeOnly',
  '$comment',
  '$id',
  '$anchor',
]);

/** A schema in the words of strict ones, as far as they are the same: unions as `anyOf`, no remarks, nothing beside a reference. */
function strictSchema(schema: JsonRecord): JsonRecord {
  const inner = mapInner(schema, strictSchema);
  const entries = Object.entries(inner);
  const isReference = typeof inner['$ref'] === 'string';
  const isUnion = Array.isArray(inner['oneOf']) && inner['anyOf'] === undefined;
  const isIdle = ([name]: readonly [string, unknown]): boolean =>
    remarks.has(name) || (isReference && (name === 'title' || name === 'description'));
  if (!isUnion && !entries.some(isIdle)) return inner;
  return Object.fromEntries(
    entries
      .filter((entry) => !isIdle(entry))
      .map(([name, value]) => [isUnion && name === 'oneOf' ? 'anyOf' : name, value]),
  );
}

function leavesNothingOpen(schema: JsonRecord): boolean {
  if (typeof schema['$ref'] === 'string') {
    return Object.keys(schema).every((name) => name === '$ref' || name === '$defs');
  }
  if (!Object.keys(schema).every((name) => permitted.has(name))) return false;
  const { properties, required, items, anyOf, $defs, definitions, format } = schema;
  if (!['type', 'enum', 'const', 'anyOf'].some((name) => schema[name] !== undefined)) return false;
  if (format !== undefined && !formats.has(format)) return false;
  const namedSchemas = isRecord(properties) ? properties : {};
  if (typesOf(schema).includes('object') || properties !== undefined) {
    if (schema['additionalProperties'] !== false) return false;
    const needed = new Set<unknown>(Array.isArray(required) ? required : []);
    if (!Object.keys(namedSchemas).every((name) => needed.has(name))) return false;
  }
  const lists = [items === undefined ? [] : [items], Array.isArray(anyOf) ? anyOf : []].flat();
  const maps = [namedSchemas, $defs, definitions].flatMap((map) =>
    isRecord(map) ? Object.values(map) : [],
  );
  return [...lists, ...maps].every((inner) => isRecord(inner) && leavesNothingOpen(inner));
}
