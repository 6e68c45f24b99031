import type { FunctionTool, Tool } from '#canonical/index.ts';
import type { Losses } from './losses.ts';
import { encodeToolSchema } from './tool-schema.ts';
import { isRecord, type JsonRecord } from './values.ts';

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
  if (tool.strict !== true || leavesNothingOpen(schema)) return { ...tool, schema };
  losses.approximated('tool.strict');
  return { ...tool, schema, strict: false };
}

/** Keywords whose value is a schema, a list of schemas, or a map of schemas. */
const single = ['items', 'additionalProperties', 'not', 'if', 'then', 'else', 'contains'];
const lists = ['anyOf', 'oneOf', 'allOf', 'prefixItems', 'items'];
const maps = ['properties', '$defs', 'definitions', 'patternProperties'];

/** Adds missing `items`, and removes null where a list belongs. */
function complete(schema: JsonRecord): JsonRecord {
  const completed: Record<string, unknown> = { ...schema };
  const inner = (value: unknown): unknown => (isRecord(value) ? complete(value) : value);
  for (const name of single) if (isRecord(schema[name])) completed[name] = inner(schema[name]);
  for (const name of lists) {
    const list = schema[name];
    if (Array.isArray(list)) completed[name] = list.map(inner);
  }
  for (const name of maps) {
    const map = schema[name];
    if (!isRecord(map)) continue;
    const entries = Object.entries(map).map(([key, value]) => [key, inner(value)]);
    completed[name] = Object.fromEntries(entries);
  }
  if (schema['required'] === null) delete completed['required'];
  const holds = schema['items'] !== undefined || schema['prefixItems'] !== undefined;
  if (typesOf(schema).includes('array') && !holds) completed['items'] = {};
  return completed;
}

function typesOf({ type }: JsonRecord): readonly unknown[] {
  return Array.isArray(type) ? type : [type];
}

const loose = ['oneOf', 'allOf', 'not', 'if', 'patternProperties', 'dependentSchemas'];

/** https://platform.openai.com/docs/guides/structured-outputs#supported-schemas */
function leavesNothingOpen(schema: JsonRecord): boolean {
  if (loose.some((name) => schema[name] !== undefined)) return false;
  const properties = isRecord(schema['properties']) ? schema['properties'] : {};
  const isObject = typesOf(schema).includes('object') || schema['properties'] !== undefined;
  if (isObject) {
    const { required } = schema;
    if (schema['additionalProperties'] !== false) return false;
    const needed = new Set<unknown>(Array.isArray(required) ? required : []);
    if (!Object.keys(properties).every((name) => needed.has(name))) return false;
  }
  const { items, anyOf, $defs, definitions } = schema;
  const inner = [
    ...listed(items),
    ...listed(anyOf),
    ...[properties, $defs, definitions].flatMap(named),
  ];
  return inner.every(leavesNothingOpen);
}

function listed(value: unknown): JsonRecord[] {
  return (Array.isArray(value) ? value : [value]).filter(isRecord);
}

function named(value: unknown): JsonRecord[] {
  return isRecord(value) ? Object.values(value).filter(isRecord) : [];
}
