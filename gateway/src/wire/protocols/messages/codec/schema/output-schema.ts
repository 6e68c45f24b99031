import { type Budget, maxDepth } from '#json/index.ts';
import { isNumber } from '../../../shared/exact-json.ts';
import { resolveReference } from '../../../shared/schema/tool-schema.ts';
import { modernSchema } from '../../../shared/schema/modern-schema.ts';
import {
  mergeSchemas,
  describe,
  hint,
  type Rewriting,
  startRewriting,
  visit,
} from '../../../shared/schema/schema-rewriting.ts';
import { isRecord, type JsonRecord } from '../../../shared/values.ts';
import {
  annotations,
  constrains,
  effectOf,
  guessedType,
  isTaken,
  type SchemaCost,
} from './output-keywords.ts';

/** A schema that the compiler of structured outputs takes. */
export interface OutputSchema {
  readonly schema: JsonRecord;
  /** A constraint became words, or an object was closed. */
  readonly changed: boolean;
  readonly cost: SchemaCost;
}

/** Where a schema says what structured outputs have no words for. */
export interface SchemaFault {
  /** Empty: the schema as a whole. */
  readonly path: string;
  /** What is not possible there, as the rest of a sentence about the schema. */
  readonly reason: string;
}

interface Definition {
  readonly name: string;
  /** Null while it is written: a reference to it from inside is a recursion. */
  schema: JsonRecord | null;
}

interface Writing {
  readonly way: Rewriting;
  /** By the reference that leads there. */
  readonly definitions: Map<string, Definition>;
  /** How often a name was wanted for a definition. */
  readonly names: Map<string, number>;
  fault: SchemaFault | null;
  changed: boolean;
  optional: number;
  unions: number;
  /** How many definitions enclose it: the limits count only what the schema itself holds. */
  inside: number;
}

/** Of what an error shows. Characters. */
const longestPath = 200;

/** Schemas and copied members of one schema. The compiler refuses those of a few hundred: "The compiled grammar is too large". */
const mostSchemas = 3000;

/**
 * Rewrites a schema for response formats and strict tools: unions as `anyOf` without anything beside it, objects closed,
 * references only to definitions, and constraints that are not enforced in the description.
 * @param budget the request's
 * @throws GatewayError `too_complex`
 */
export function encodeOutputSchema(
  toolSchema: JsonRecord,
  budget: Budget,
): OutputSchema | SchemaFault {
  let differs = false;
  const root = modernSchema(toolSchema, () => (differs = true));
  const way = startRewriting(root, false, budget);
  way.notes.visitsLeft = mostSchemas;
  const writing: Writing = {
    way,
    definitions: new Map([['#', { name: '', schema: null }]]),
    names: new Map(),
    fault: null,
    changed: differs,
    optional: 0,
    unions: 0,
    inside: 0,
  };
  const writtenSchema = write(entryOf(root, writing), '', 0, writing);
  if (writing.fault !== null) return writing.fault;
  const { optional, unions } = writing;
  const $defs = Object.fromEntries(
    [...writing.definitions.values()]
      .filter(({ schema }) => schema !== null)
      .map(({ name, schema }) => [name, schema]),
  );
  const schema = Object.keys($defs).length > 0 ? { ...writtenSchema, $defs } : writtenSchema;
  const isChanged = writing.changed || writing.way.notes.approximated;
  return { schema, changed: isChanged, cost: { optional, unions } };
}

/** What a reference at the top leads to. */
function entryOf(root: JsonRecord, { definitions }: Writing): JsonRecord {
  const { $ref: reference } = root;
  if (typeof reference !== 'string' || reference === '#' || constrains(withoutReference(root)))
    return root;
  definitions.set(reference, { name: '', schema: null });
  return resolveReference(root, reference) ?? root;
}

function write(rawSchema: unknown, path: string, depth: number, writing: Writing): JsonRecord {
  if (writing.fault !== null) return {};
  visit(writing.way);
  if (writing.way.notes.visitsLeft < 0 || depth > maxDepth)
    return refuse(path, 'is too large', writing);
  if (!isRecord(rawSchema)) return refuse(path, 'allows any value', writing);
  const schema = withoutAllOf(rawSchema, path, writing);
  if (typeof schema['$ref'] === 'string') return refer(schema['$ref'], path, depth, writing);
  const literals = writeLiterals(schema, writing);
  if (literals !== null) return literals;
  const branches = branchesOf(schema, writing);
  if (branches !== null) return writeUnion(branches, schema, path, depth, writing);
  const types = typesOf(schema);
  const [type] = types;
  if (type === undefined) return refuse(path, 'allows any value', writing);
  if (types.length > 1 && !areSimple(types, schema)) {
    const { title: _1, description: _2, default: _3, ...rest } = schema;
    return writeUnion(
      types.map((one) => ({ ...rest, type: one })),
      schema,
      path,
      depth,
      writing,
    );
  }
  return writeTyped(type, types, schema, path, depth, writing);
}

function refuse(path: string, reason: string, writing: Writing): JsonRecord {
  writing.fault ??= { path: path.slice(-longestPath), reason };
  return {};
}

/** The schema with the parts of `allOf` merged into it. A single reference in it is a reference. */
function withoutAllOf(schema: JsonRecord, path: string, writing: Writing): JsonRecord {
  let flat = schema;
  for (let steps = 0; steps < 100; steps += 1) {
    const { allOf, ...rest } = flat;
    const { $ref: reference } = rest;
    const parts: readonly unknown[] = Array.isArray(allOf) ? allOf : [];
    if (parts.length === 0) {
      if (typeof reference !== 'string' || !constrains(withoutReference(rest))) return rest;
      flat = { ...withoutReference(rest), allOf: [{ $ref: reference }] };
      continue;
    }
    const [only] = parts;
    if (parts.length === 1 && isRecord(only) && !constrains(rest)) {
      flat = { ...only, ...rest };
      continue;
    }
    const own = new Set<object>();
    flat = parts.reduce<JsonRecord>(
      (mergedSchema, part) =>
        mergeSchemas(mergedSchema, targetOf(part, path, writing), writing.way, own),
      rest,
    );
    if (writing.fault !== null) return {};
  }
  return refuse(path, 'refers to itself', writing);
}

function withoutReference(schema: JsonRecord): JsonRecord {
  const { $ref: _, ...rest } = schema;
  return rest;
}

/** A part of `allOf`, or what it refers to. */
function targetOf(part: unknown, path: string, writing: Writing): JsonRecord {
  if (!isRecord(part)) return {};
  const { $ref: reference, ...rest } = part;
  if (typeof reference !== 'string') return part;
  const target = resolveReference(writing.way.root, reference);
  if (target === null) return refuse(path, missing(reference), writing);
  return mergeSchemas(target, rest, writing.way);
}

/** Annotations beside a reference are left out, as by the vendor's own SDK. */
function refer(reference: string, path: string, depth: number, writing: Writing): JsonRecord {
  const { definitions, names, way } = writing;
  const definedSchema = definitions.get(reference);
  if (definedSchema?.schema === null) return refuse(path, 'refers to itself', writing);
  if (definedSchema !== undefined) return { $ref: `#/$defs/${definedSchema.name}` };
  const target = resolveReference(way.root, reference);
  if (target === null) return refuse(path, missing(reference), writing);
  const definition: Definition = { name: nameFor(reference, names), schema: null };
  definitions.set(reference, definition);
  writing.inside += 1;
  const schema = write(target, reference.slice(2).replaceAll('/', '.'), depth + 1, writing);
  writing.inside -= 1;
  definition.schema = schema;
  return { $ref: `#/$defs/${definition.name}` };
}

function missing(reference: string): string {
  return `refers to ${JSON.stringify(reference.slice(0, longestPath))}, which is not in the schema`;
}

function nameFor(reference: string, names: Map<string, number>): string {
  const last = reference.slice(reference.lastIndexOf('/') + 1).replace(/[^a-zA-Z0-9_-]/g, '_');
  let count = names.get(last) ?? 0;
  let name = last;
  while (name === '' || names.has(name)) {
    count += 1;
    name = `${last}_${count}`;
  }
  names.set(last, count);
  names.set(name, 0);
  return name;
}

/** A schema of listed values; null for any other. A type beside them has to agree with each, so it is left out. */
function writeLiterals(schema: JsonRecord, writing: Writing): JsonRecord | null {
  const { enum: listed, const: constant } = schema;
  const values: readonly unknown[] | null =
    constant !== undefined ? [constant] : Array.isArray(listed) ? listed : null;
  if (values === null || !values.every(isScalar)) return null;
  const all = schema['nullable'] === true && !values.includes(null) ? [...values, null] : values;
  const words: string[] = [];
  const { examples, example } = schema;
  if (examples !== undefined || example !== undefined) {
    words.push(hint('examples', examples ?? example, writing.way));
  }
  const isConstant = constant !== undefined && all.length === 1;
  return annotated(isConstant ? { const: constant } : { enum: all }, schema, words);
}

function isScalar(value: unknown): boolean {
  return typeof value !== 'object' || value === null || isNumber(value);
}

/** The alternatives, each merged with the constraints beside them; null if there are none. */
function branchesOf(schema: JsonRecord, writing: Writing): readonly unknown[] | null {
  const {
    anyOf,
    oneOf,
    title: _1,
    description: _2,
    default: _3,
    discriminator: _4,
    nullable: _5,
    ...base
  } = schema;
  const writtenItems: readonly unknown[] | null =
    Array.isArray(anyOf) && anyOf.length > 0
      ? anyOf
      : Array.isArray(oneOf) && oneOf.length > 0
        ? oneOf
        : null;
  if (writtenItems === null) return null;
  if (writtenItems !== oneOf && Array.isArray(oneOf)) writing.changed = true;
  if (!constrains(base)) return writtenItems;
  return writtenItems.map((branch) =>
    !isRecord(branch) || writing.way.notes.visitsLeft < 0 || holds(branch, base, writing)
      ? branch
      : mergeSchemas(base, branch, writing.way),
  );
}

/** Whether a schema, or what it refers to, says itself what stands beside the union, which mostly is its type. */
function holds(schema: JsonRecord, base: JsonRecord, { way }: Writing): boolean {
  const { $ref: reference } = schema;
  const target = typeof reference === 'string' ? resolveReference(way.root, reference) : schema;
  return (
    target !== null && Object.entries(base).every(([keyword, value]) => target[keyword] === value)
  );
}

function writeUnion(
  branches: readonly unknown[],
  schema: JsonRecord,
  path: string,
  depth: number,
  writing: Writing,
): JsonRecord {
  const all = schema['nullable'] === true ? [...branches, { type: 'null' }] : branches;
  const [only] = all;
  if (all.length === 1 && isRecord(only)) {
    return write({ ...only, ...pick(schema) }, path, depth + 1, writing);
  }
  if (writing.inside === 0) writing.unions += 1;
  const anyOf = all.map((branch, at) =>
    write(branch, `${under(path)}anyOf.${at}`, depth + 1, writing),
  );
  return annotated({ anyOf }, schema, []);
}

function pick(schema: JsonRecord): JsonRecord {
  return Object.fromEntries(
    annotations.filter((name) => schema[name] !== undefined).map((name) => [name, schema[name]]),
  );
}

/** Declared, or to be seen in another keyword; null last. `nullable` adds it. */
function typesOf(schema: JsonRecord): readonly string[] {
  const { type, nullable } = schema;
  const declaredTypes = (Array.isArray(type) ? (type as unknown[]) : [type ?? guessedType(schema)])
    .filter((name) => typeof name === 'string')
    .map((name) => name.toLowerCase());
  const namedTypes = new Set(declaredTypes.filter((name) => name !== 'null'));
  const isNullable =
    namedTypes.size < declaredTypes.length || (nullable === true && namedTypes.size > 0);
  return isNullable ? [...namedTypes, 'null'] : [...namedTypes];
}

/** Whether a list of types can stay one: nothing beside it holds for one of them only. */
function areSimple(types: readonly string[], schema: JsonRecord): boolean {
  return !types.some(
    (type) =>
      type === 'object' ||
      type === 'array' ||
      Object.keys(schema).some((keyword) => isTaken(type, keyword, schema[keyword])),
  );
}

function writeTyped(
  type: string,
  types: readonly string[],
  schema: JsonRecord,
  path: string,
  depth: number,
  writing: Writing,
): JsonRecord {
  if (types.length > 1 && writing.inside === 0) writing.unions += 1;
  const words: string[] = [];
  const writtenSchema: Record<string, unknown> = { type: types.length > 1 ? types : type };
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === 'type') continue;
    if (isTaken(type, keyword, value)) {
      writtenSchema[keyword] = value;
      continue;
    }
    const effect = effectOf(keyword, value, types);
    if (effect === 'idle') continue;
    words.push(hint(keyword, value, writing.way));
    if (effect === 'constraint') writing.changed = true;
  }
  if (type === 'object') Object.assign(writtenSchema, writeObject(schema, path, depth, writing));
  if (type === 'array') Object.assign(writtenSchema, writeArray(schema, path, depth, writing));
  return annotated(writtenSchema, schema, words);
}

function writeObject(
  schema: JsonRecord,
  path: string,
  depth: number,
  writing: Writing,
): JsonRecord {
  const { properties, required, additionalProperties: others, patternProperties } = schema;
  const entries = isRecord(properties) ? Object.entries(properties) : [];
  const isOpen = others === true || isRecord(others) || isRecord(patternProperties);
  if (entries.length === 0 && (isOpen || !isRecord(properties))) {
    return refuse(path, 'allows properties of any name', writing);
  }
  if (isOpen) writing.changed = true;
  const names = new Set(entries.map(([name]) => name));
  const needed = [...new Set(Array.isArray(required) ? (required as unknown[]) : [])].filter(
    (name) => typeof name === 'string' && names.has(name),
  );
  if (writing.inside === 0) writing.optional += entries.length - needed.length;
  return {
    properties: Object.fromEntries(
      entries.map(([name, value]) => [
        name,
        write(value, `${under(path)}properties.${name}`, depth + 1, writing),
      ]),
    ),
    ...(required !== undefined && { required: needed }),
    additionalProperties: false,
  };
}

/** A tuple becomes a list of what its places hold. */
function writeArray(schema: JsonRecord, path: string, depth: number, writing: Writing): JsonRecord {
  const { items, prefixItems } = schema;
  if (!Array.isArray(prefixItems)) {
    if (items === undefined) return refuse(path, 'allows a list of anything', writing);
    return { items: write(items, `${under(path)}items`, depth + 1, writing) };
  }
  const places = isRecord(items) ? [...prefixItems, items] : prefixItems;
  const kinds = new Map(places.map((place: unknown) => [JSON.stringify(place), place]));
  return {
    items: write({ anyOf: [...kinds.values()] }, `${under(path)}prefixItems`, depth + 1, writing),
  };
}

function under(path: string): string {
  return path === '' ? '' : `${path}.`;
}

function annotated(
  writtenSchema: JsonRecord,
  schema: JsonRecord,
  words: readonly string[],
): JsonRecord {
  const description = describe(schema['description'], words);
  return { ...writtenSchema, ...pick(schema), ...(description !== undefined && { description }) };
}
