import { maxDepth } from '#json/index.ts';
import { modernSchema } from './modern-schema.ts';
import { isAbsent, isRecord, type JsonRecord } from '../values.ts';

const unions = ['oneOf', 'anyOf', 'allOf'] as const;

/**
 * The schema of a tool's arguments as most upstreams require it: an object with properties and no union at the top.
 * The members of a union's branches become properties, required if every branch requires them.
 * @param onChange called if the schema now allows other arguments than before
 */
export function encodeToolSchema(toolSchema: JsonRecord | null, onChange: () => void): JsonRecord {
  if (toolSchema === null) return { type: 'object', properties: {} };
  const schema = modernSchema(toolSchema, onChange);
  const present = unions.filter((name) => Array.isArray(schema[name]));
  const isPlain = present.length === 0 && schema['$ref'] === undefined;
  if (isPlain && schema['type'] === 'object' && isRecord(schema['properties'])) {
    return schema;
  }
  if (!canBeArguments(schema)) onChange();
  const { schema: mergedSchema, incomplete } = mergeArguments(schema);
  if (present.length > 0 || incomplete) onChange();
  return mergedSchema;
}

/** Whether the schema can be that of an object: its type is not another one, and its properties have names. */
export function canBeArguments({ type, properties }: JsonRecord): boolean {
  if (!isAbsent(properties) && !isRecord(properties)) return false;
  const types: readonly unknown[] = Array.isArray(type) ? type : [type];
  return types.some(
    (name) => isAbsent(name) || (typeof name === 'string' && name.toLowerCase() === 'object'),
  );
}

/** What a schema says about the members of an object. */
interface Members {
  /** By name; a map, since a property may be called `__proto__`. */
  readonly properties: ReadonlyMap<string, unknown>;
  /** In the order in which the schema names them. */
  readonly required: ReadonlySet<string>;
}

interface Merging {
  readonly root: JsonRecord;
  /** What has been read; an object that is still being read stands for nothing inside itself. */
  readonly readObjects: Map<object, Members>;
  /** How much more may be compared and copied: references to references can grow without bound. */
  visitsLeft: number;
  /** Something was left out. */
  incomplete: boolean;
}

/** Of one schema: properties of real tools are some hundreds. */
const mostWork = 20_000;
/** Comparing a property's text costs as much as copying a few properties. */
const charactersPerStep = 64;

const nothing: Members = { properties: new Map(), required: new Set() };

interface MergedArguments {
  /** An object's schema without a union or a reference at the top. */
  readonly schema: JsonRecord;
  /** A part of the schema could not be followed. */
  readonly incomplete: boolean;
}

/**
 * The arguments of a function as one object: with the properties of every branch of the unions at the top, and with the
 * names that every branch requires. References there are followed. A property that branches define differently gets
 * the values of all if these are constants, and otherwise the choice between their schemas.
 */
export function mergeArguments(schema: JsonRecord): MergedArguments {
  const merging: Merging = {
    root: schema,
    readObjects: new Map(),
    visitsLeft: mostWork,
    incomplete: false,
  };
  const { properties, required } = membersOf(schema, merging, 0);
  const { oneOf: _1, anyOf: _2, allOf: _3, $ref: _4, required: _5, ...others } = schema;
  const names = [...required].filter((name) => properties.has(name));
  return {
    schema: {
      ...others,
      type: 'object',
      properties: Object.fromEntries(properties),
      ...(names.length > 0 && { required: names }),
    },
    incomplete: merging.incomplete,
  };
}

function membersOf(schema: unknown, merging: Merging, depth: number): Members {
  if (!isRecord(schema)) return nothing;
  const knownSchema = merging.readObjects.get(schema);
  if (knownSchema !== undefined) return knownSchema;
  if (depth > maxDepth || merging.visitsLeft <= 0) {
    merging.incomplete = true;
    return nothing;
  }
  merging.readObjects.set(schema, nothing);
  const inner = (part: unknown): Members => membersOf(part, merging, depth + 1);
  const { properties, required, allOf, anyOf, oneOf, $ref: reference } = schema;
  const own: Members = {
    properties: new Map(isRecord(properties) ? Object.entries(properties) : []),
    required: new Set(Array.isArray(required) ? required.filter(isText) : []),
  };
  merging.visitsLeft -= own.properties.size + 1;
  const parts = [own];
  if (typeof reference === 'string') {
    const target = resolveReference(merging.root, reference);
    if (target === null || merging.readObjects.get(target) === nothing) merging.incomplete = true;
    parts.push(inner(target));
  }
  if (Array.isArray(allOf)) parts.push(...allOf.map(inner));
  for (const branches of [anyOf, oneOf]) {
    if (!Array.isArray(branches) || branches.length === 0) continue;
    parts.push(anyOne(new Set(branches.filter(isRecord).map(inner)), merging));
  }
  const members = parts.length === 1 ? own : allTogether(parts, merging);
  merging.readObjects.set(schema, members);
  return members;
}

/** Every part holds. Where they differ, a value has to satisfy both. */
function allTogether(parts: readonly Members[], merging: Merging): Members {
  const properties = new Map<string, unknown>();
  const required = new Set<string>();
  for (const part of parts) {
    merging.visitsLeft -= part.properties.size + part.required.size;
    for (const [name, schema] of part.properties) {
      const before = properties.get(name);
      if (before === undefined || isAnything(before)) properties.set(name, schema);
      else if (!isAnything(schema) && !isSame(before, schema, merging)) {
        properties.set(name, { allOf: [before, schema] });
      }
    }
    for (const name of part.required) required.add(name);
  }
  return { properties, required };
}

/** One of the branches holds. */
function anyOne(branches: ReadonlySet<Members>, merging: Merging): Members {
  const variants = new Map<string, unknown[]>();
  const counts = new Map<string, number>();
  for (const branch of branches) {
    merging.visitsLeft -= branch.properties.size + branch.required.size;
    if (merging.visitsLeft <= 0) {
      merging.incomplete = true;
      break;
    }
    for (const [name, schema] of branch.properties) {
      const others = variants.get(name);
      if (others === undefined) variants.set(name, [schema]);
      else if (!others.some((other) => isSame(other, schema, merging))) others.push(schema);
    }
    for (const name of branch.required) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const mergedMembers = Array.from(
    variants,
    ([name, schemas]) => [name, choiceOf(schemas)] as const,
  );
  const names = Array.from(counts).flatMap(([name, count]) =>
    count === branches.size ? [name] : [],
  );
  return { properties: new Map(mergedMembers), required: new Set(names) };
}

/** Constants become one list, with which models choose better than with a list of schemas. */
function choiceOf(schemas: readonly unknown[]): unknown {
  const [first, ...others] = schemas;
  if (others.length === 0) return first;
  const values: unknown[] = [];
  const types = new Set<unknown>();
  const words: string[] = [];
  for (const schema of schemas) {
    const constants = constantsOf(schema);
    if (constants === null) return { anyOf: schemas };
    values.push(...constants);
    const { type, description } = schema as JsonRecord;
    types.add(type);
    if (isText(description) && !words.includes(description)) words.push(description);
  }
  const [type] = types;
  return {
    ...(types.size === 1 && type !== undefined && { type }),
    enum: [...new Set(values)],
    ...(words.length > 0 && { description: words.join('; ') }),
  };
}

const constantKeywords: ReadonlySet<string> = new Set([
  'const',
  'enum',
  'type',
  'title',
  'description',
  'default',
]);

/** The values of a schema that says nothing but its constants; null for any other. */
function constantsOf(schema: unknown): readonly unknown[] | null {
  if (!isRecord(schema) || Object.keys(schema).some((name) => !constantKeywords.has(name))) {
    return null;
  }
  if (schema['const'] !== undefined) return [schema['const']];
  const { enum: values } = schema;
  return Array.isArray(values) ? values : null;
}

function isAnything(schema: unknown): boolean {
  return schema === true || (isRecord(schema) && Object.keys(schema).length === 0);
}

function isSame(one: unknown, other: unknown, merging: Merging): boolean {
  if (one === other) return true;
  const [first, second] = [JSON.stringify(one) ?? '', JSON.stringify(other) ?? ''];
  merging.visitsLeft -= Math.ceil((first.length + second.length) / charactersPerStep);
  return first === second;
}

/** Resolves a JSON pointer into the same document; null for what is not there or elsewhere. */
export function resolveReference(root: JsonRecord, reference: string): JsonRecord | null {
  if (!reference.startsWith('#')) return null;
  let at: unknown = root;
  for (const part of reference.slice(1).split('/').filter(Boolean)) {
    const name = decodePointer(part);
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, name)) return null;
    at = (at as JsonRecord)[name];
  }
  return isRecord(at) ? at : null;
}

function decodePointer(part: string): string {
  const plain = part.replaceAll('~1', '/').replaceAll('~0', '~');
  try {
    return decodeURIComponent(plain);
  } catch {
    return plain;
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}
