import { isObject, isPresent, objectAt, objectsIn, stringAt, type JsonObject } from '../json.ts';
import { invalid } from './protocol.ts';

/*
 * What structured outputs refuse, in the vendor's words: https://platform.claude.com/docs/en/build-with-claude/structured-outputs
 * ("JSON Schema limitations"), and public reports of its refusals for what the page does not say.
 */

const formats = 'date-time time date duration email hostname uri ipv4 ipv6 uuid'.split(' ');
const common = ['title', 'description', 'default', '$defs', 'definitions', '$schema'];
const byType: Readonly<Record<string, readonly string[]>> = {
  object: ['properties', 'required', 'additionalProperties'],
  array: ['items', 'minItems'],
  string: ['format', 'pattern', 'enum', 'const'],
  number: ['enum', 'const'],
  integer: ['enum', 'const'],
  boolean: ['enum', 'const'],
  null: [],
};

interface Count {
  optional: number;
  unions: number;
}

/** Checks the schemas of strict tools and of the response format, and their sums. @throws Rejection */
export function checkOutputSchemas(body: JsonObject): void {
  const count: Count = { optional: 0, unions: 0 };
  const tools = objectsIn(body['tools']);
  const strict = tools.filter((tool) => tool['strict'] === true);
  if (strict.length > 20) {
    throw invalid(
      `Too many strict tools (${strict.length}). The maximum number of strict tools supported is 20. Try reducing the number of tools marked as strict.`,
    );
  }
  for (const tool of strict) {
    checkOutputSchema(tool['input_schema'], `tools.${tools.indexOf(tool)}.custom`, count);
  }
  const format = objectAt(objectAt(body, 'output_config'), 'format');
  if (isPresent(format['schema'])) {
    checkOutputSchema(format['schema'], 'output_config.format.schema', count);
  }
  if (count.optional > 24) {
    throw invalid(
      `Schemas contains too many optional parameters (${count.optional}), which would make grammar compilation inefficient. Reduce the number of optional parameters in your tool schemas (limit: 24).`,
    );
  }
  if (count.unions > 16) {
    throw invalid(
      `Schemas contains too many parameters with union types (${count.unions} parameters with type arrays or anyOf). This causes exponential compilation cost. Reduce the number of nullable or union-typed parameters (limit: 16 parameters with unions).`,
    );
  }
}

/** @throws Rejection */
export function checkOutputSchema(
  schema: unknown,
  prefix: string,
  count: Count = { optional: 0, unions: 0 },
): void {
  const fail = (words: string) => invalid(`${prefix}: ${words}`);
  const root = isObject(schema) ? schema : {};
  const check = (node: unknown, counted: Count): void => {
    if (!isObject(node) || Object.keys(node).every((key) => common.includes(key))) {
      throw fail('Empty schema ({}) that accepts any JSON value is not supported.');
    }
    if (isPresent(node['$ref'])) return checkReference(root, node, fail);
    for (const name of ['oneOf', 'allOf']) {
      if (isPresent(node[name])) throw fail(`Schema type '${name}' is not supported`);
    }
    if (isPresent(node['not'])) throw fail("Schema keyword 'not' is not supported");
    const { anyOf } = node;
    if (Array.isArray(anyOf)) {
      const others = Object.keys(node).filter((key) => key !== 'anyOf' && !common.includes(key));
      if (others.length > 0) throw fail(`For 'anyOf', '${others.join(', ')}' is not supported`);
      counted.unions += 1;
      return anyOf.forEach((branch) => check(branch, counted));
    }
    checkTyped(node, counted, check, fail);
  };
  check(root, count);
  for (const definition of definitionsOf(root)) check(definition, { optional: 0, unions: 0 });
  checkCircles(root, fail);
}

type Fail = (words: string) => Error;

function checkTyped(
  node: JsonObject,
  count: Count,
  check: (node: unknown, count: Count) => void,
  fail: Fail,
): void {
  const types = Array.isArray(node['type']) ? (node['type'] as unknown[]) : [node['type']];
  if (types.length > 1) count.unions += 1;
  checkValues(node, types, fail);
  if (!isPresent(node['type'])) return;
  const allowed = types.flatMap((type) => byType[String(type)] ?? []);
  const [type] = types;
  for (const key of Object.keys(node)) {
    if (key === 'type' || common.includes(key) || allowed.includes(key)) continue;
    throw fail(`For '${String(type)}' type, property '${key}' is not supported`);
  }
  if (types.includes('string') && isPresent(node['format'])) {
    const format = stringAt(node, 'format');
    if (!formats.includes(format))
      throw fail(`For 'string' type, format '${format}' is not supported`);
  }
  if (types.includes('array')) {
    if (!isObject(node['items'])) {
      throw fail(
        "Invalid schema: Array types must be specified with a single object schema for 'items'.",
      );
    }
    if (Number(node['minItems'] ?? 0) > 1) {
      throw fail("For 'array' type, 'minItems' values other than 0 or 1 are not supported");
    }
    check(node['items'], count);
  }
  if (!types.includes('object')) return;
  if (node['additionalProperties'] !== false) {
    throw fail("For 'object' type, 'additionalProperties' must be explicitly set to false");
  }
  const properties = objectAt(node, 'properties');
  const required = Array.isArray(node['required']) ? node['required'] : [];
  count.optional += Object.keys(properties).filter((name) => !required.includes(name)).length;
  for (const property of Object.values(properties)) check(property, count);
}

function checkValues(node: JsonObject, types: readonly unknown[], fail: Fail): void {
  const values = Array.isArray(node['enum']) ? (node['enum'] as unknown[]) : [];
  for (const value of isPresent(node['const']) ? [...values, node['const']] : values) {
    if (typeof value === 'object' && value !== null)
      throw fail('Complex enum values are not supported');
    if (types.length > 1) throw fail(`Enum value '${String(value)}' does not match declared type`);
  }
  if (!isPresent(node['type']) && values.length === 0 && node['const'] === undefined) {
    throw fail('Empty schema ({}) that accepts any JSON value is not supported.');
  }
}

function checkReference(root: JsonObject, node: JsonObject, fail: Fail): void {
  const others = Object.keys(node).filter((key) => key !== '$ref' && key !== '$defs');
  if (others.length > 0) throw fail(`For '$ref', '${others.join(', ')}' is not supported`);
  if (targetOf(root, node['$ref']) === null)
    throw fail(`Unresolvable $ref '${String(node['$ref'])}'`);
}

function definitionsOf(root: JsonObject): unknown[] {
  return [objectAt(root, '$defs'), objectAt(root, 'definitions')].flatMap(Object.values);
}

/** The name of a definition; null for a reference to anything else. */
function targetOf(root: JsonObject, reference: unknown): string | null {
  const [, place, name] = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(String(reference)) ?? [];
  if (place === undefined || name === undefined) return null;
  return isObject(objectAt(root, place)[name]) ? name : null;
}

function checkCircles(root: JsonObject, fail: Fail): void {
  const definitions = { ...objectAt(root, 'definitions'), ...objectAt(root, '$defs') };
  const visit = (name: string, above: readonly string[]): void => {
    if (above.includes(name)) {
      const circle = [...above.slice(above.indexOf(name)), name].join(' -> ');
      throw fail(`Circular reference detected in schema definitions: ${circle}`);
    }
    for (const next of namesIn(definitions[name])) visit(next, [...above, name]);
  };
  for (const name of Object.keys(definitions)) visit(name, []);
}

/** The definitions that any part of a schema refers to. */
function namesIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(namesIn);
  if (!isObject(value)) return [];
  const own = value['$ref'];
  const [, name] =
    /^#\/(?:\$defs|definitions)\/([^/]+)$/.exec(typeof own === 'string' ? own : '') ?? [];
  return [...(name === undefined ? [] : [name]), ...Object.values(value).flatMap(namesIn)];
}
