import type { Budget } from '#json/index.ts';
import { mergeArguments, canBeArguments } from '../../../shared/schema/tool-schema.ts';
import { modernSchema } from '../../../shared/schema/modern-schema.ts';
import { isAbsent, isRecord, type JsonRecord } from '../../../shared/values.ts';
import {
  allowedValues,
  numbers,
  scalarReaders,
  type TypedKeywords,
  typesOf,
  unsayable,
} from './schema-keywords.ts';
import {
  flatten,
  mergeSchemas,
  count,
  describe,
  drawOutput,
  hint,
  inside,
  startRewriting,
  visit,
  type Rewriting,
} from '../../../shared/schema/schema-rewriting.ts';

export interface DialectSchema<Schema = JsonRecord> {
  readonly schema: Schema;
  readonly approximated: boolean;
  readonly widened: boolean;
}

/**
 * Rewrites a JSON Schema in the protocol's dialect, which has no references, conditions or lists of types, and refuses
 * unknown keywords at any depth. References are expanded, `const` becomes a list of one value, alternatives become
 * `anyOf` or `nullable`, and what has no keyword goes into the description.
 * @param budget the request's
 * @throws GatewayError `too_complex`
 */
export function toDialect(declared: JsonRecord, budget: Budget): DialectSchema {
  const schema = modernSchema(declared, () => {});
  const way = startRewriting(schema, true, budget);
  return result(rewrite(schema, way), way);
}

function result<Schema>(schema: Schema, { notes }: Rewriting): DialectSchema<Schema> {
  const { approximated, widened } = notes;
  return { schema, approximated: approximated || widened, widened };
}

/**
 * Rewrites the arguments of a function. They are always one object, so alternatives of objects are merged. The schema is
 * null if there are no properties, since the API refuses an object without any.
 * @param budget the request's
 * @throws GatewayError `too_complex`
 */
export function toParameters(
  declared: JsonRecord,
  budget: Budget,
): DialectSchema<JsonRecord | null> {
  const schema = modernSchema(declared, () => {});
  const way = startRewriting(schema, false, budget);
  const { schema: object, incomplete } = mergeArguments(schema);
  const isUnion = [schema['anyOf'], schema['oneOf']].some(Array.isArray);
  if (incomplete || isUnion || !canBeArguments(schema)) way.notes.widened = true;
  if (Object.keys(object['properties'] as JsonRecord).length === 0) return result(null, way);
  return result(rewrite(object, way), way);
}

function rewrite(schema: unknown, way: Rewriting): JsonRecord {
  visit(way);
  if (!isRecord(schema)) return anything([], way);
  const flat = way.notes.left > 0 ? flatten(schema, way) : null;
  if (flat === null) return cut(schema, way);
  return rewriteFlat(flat.schema, inside(flat.way));
}

/** Stands for any JSON value. The API requires a type and refuses objects without properties, so scalars remain. */
function anything(hints: readonly string[], way: Rewriting, schema: JsonRecord = {}): JsonRecord {
  way.notes.approximated = true;
  const anyOf = [{ type: 'STRING' }, { type: 'NUMBER' }, { type: 'BOOLEAN' }];
  return withCommon({ anyOf }, schema, hints, way);
}

/** Stands for a recursive schema, or for a reference to nothing. */
function cut(schema: JsonRecord, way: Rewriting): JsonRecord {
  way.notes.widened = true;
  const { $ref: reference } = schema;
  const hints = typeof reference === 'string' ? [hint('as', reference, way)] : [];
  return withCommon({ type: 'OBJECT' }, schema, hints, way);
}

function rewriteFlat(schema: JsonRecord, way: Rewriting): JsonRecord {
  const hints = unsayable(schema, way);
  const members = alternatives(schema, way);
  if (members !== null) return choice(members, schema, hints, way);
  const types = typesOf(schema);
  const nullable = isNullable(schema, types);
  const namedTypes = types.filter((type) => type !== 'null');
  const [only] = namedTypes;
  if (only === undefined) {
    if (types.includes('null')) return withCommon({ type: 'NULL' }, schema, hints, way);
    return { ...anything(hints, way, schema), ...(nullable ? { nullable } : {}) };
  }
  const flag = nullable ? { nullable } : {};
  if (namedTypes.length === 1) {
    const { type, keywords, hints: more } = ofType(only, schema, way);
    return withCommon({ type, ...keywords, ...flag }, schema, [...hints, ...more], way);
  }
  const anyOf = namedTypes.map((name) => {
    const { type, keywords, hints: more } = ofType(name, valuesOfType(schema, name), way);
    return withCommon({ type, ...keywords }, {}, more, way);
  });
  return withCommon({ anyOf, ...flag }, schema, hints, way);
}

function isNullable(schema: JsonRecord, types: readonly string[]): boolean {
  if (schema['nullable'] === true || types.includes('null')) return true;
  const values = schema['enum'];
  return schema['type'] === undefined && Array.isArray(values) && values.includes(null);
}

/** The schema with only the listed values of this type. */
function valuesOfType(schema: JsonRecord, type: string): JsonRecord {
  const values = allowedValues(schema);
  if (values === null) return schema;
  const { const: _, ...rest } = schema;
  const own = values.filter((value) => typesOf({ const: value }).includes(type));
  return { ...rest, enum: own };
}

/** Annotations of the schema as a whole. */
function withoutCommon(schema: JsonRecord): JsonRecord {
  const common = ['title', 'description', 'default', 'example', 'examples', 'nullable'];
  return Object.fromEntries(Object.entries(schema).filter(([name]) => !common.includes(name)));
}

/** The members of `anyOf` and `oneOf`, each merged with the keywords beside them; null if there are none. */
function alternatives(schema: JsonRecord, way: Rewriting): readonly JsonRecord[] | null {
  const { anyOf, oneOf, ...rest } = schema;
  const base = withoutCommon(rest);
  const writtenChoices = Array.isArray(anyOf) && anyOf.length > 0 ? anyOf : oneOf;
  if (!Array.isArray(writtenChoices) || writtenChoices.length === 0) return null;
  if (writtenChoices !== oneOf && oneOf !== undefined) way.notes.widened = true;
  if (typesOf(base).length === 0)
    return writtenChoices.map((member) => (isRecord(member) ? member : {}));
  return writtenChoices.map((member) =>
    isRecord(member) && way.notes.left > 0 ? mergeSchemas(base, member, way) : base,
  );
}

function choice(
  members: readonly JsonRecord[],
  schema: JsonRecord,
  hints: readonly string[],
  way: Rewriting,
): JsonRecord {
  const isNull = (member: JsonRecord) => member['type'] === 'null' || member['const'] === null;
  const real = members.filter((member) => !isNull(member));
  const nullable = real.length < members.length || schema['nullable'] === true;
  const flag = nullable ? { nullable } : {};
  const [only] = real;
  if (only === undefined) return withCommon({ type: 'NULL' }, schema, hints, way);
  if (real.length === 1) return withCommon({ ...rewrite(only, way), ...flag }, schema, hints, way);
  const anyOf = real.map((member) => rewrite(member, way));
  return withCommon({ anyOf, ...flag }, schema, hints, way);
}

function ofType(
  name: string,
  schema: JsonRecord,
  way: Rewriting,
): TypedKeywords & { type: string } {
  const type = name.toUpperCase();
  if (name === 'object') return { type, ...readObject(schema, way) };
  if (name === 'array') return { type, ...readArray(schema, way) };
  const read = scalarReaders.get(name);
  if (read !== undefined) return { type, ...read({ ...schema, type: name }, way) };
  // A type that is not part of JSON Schema (`any`, `date`).
  way.notes.approximated = true;
  return { type: 'STRING', keywords: {}, hints: [hint('type', name, way)] };
}

function readArray(schema: JsonRecord, way: Rewriting): TypedKeywords {
  const { items, prefixItems } = schema;
  const places = Array.isArray(prefixItems) ? prefixItems : Array.isArray(items) ? items : null;
  const keywords: Record<string, unknown> = numbers(schema, ['minItems', 'maxItems']);
  if (places === null) {
    // An array must declare its items.
    keywords['items'] = isAbsent(items) ? anything([], way) : rewrite(items, way);
    return { keywords, hints: [] };
  }
  way.notes.approximated = true;
  keywords['items'] = rewrite(places.length > 0 ? { anyOf: places } : {}, way);
  return { keywords, hints: ['items in the order given'] };
}

function readObject(schema: JsonRecord, way: Rewriting): TypedKeywords {
  const keywords: Record<string, unknown> = numbers(schema, ['minProperties', 'maxProperties']);
  const hints: string[] = [];
  const { properties, required, additionalProperties } = schema;
  const names = isRecord(properties) ? Object.keys(properties) : [];
  if (isRecord(properties) && names.length > 0) {
    const entries = Object.entries(properties).map(([name, value]) => [name, rewrite(value, way)]);
    keywords['properties'] = Object.fromEntries(entries);
    const requiredNames: readonly unknown[] = Array.isArray(required) ? required : [];
    count(way, requiredNames.length);
    const wantedNames = new Set(requiredNames);
    const knownNames = new Set<unknown>(names);
    const needed = [...wantedNames].filter((name) => knownNames.has(name));
    if (needed.length > 0) keywords['required'] = needed;
    drawOutput(names, way);
    if (way.ordered && names.length > 1) keywords['propertyOrdering'] = names;
  }
  if (isRecord(additionalProperties)) {
    way.notes.approximated = true;
    hints.push(hint('other properties', additionalProperties, way));
  }
  return { keywords, hints };
}

/** Keywords of every type. Those of the schema itself override those of its parts. */
function withCommon(
  typed: JsonRecord,
  schema: JsonRecord,
  hints: readonly string[],
  way: Rewriting,
): JsonRecord {
  const { title, default: preset, examples, example } = schema;
  const description = describe(schema['description'] ?? typed['description'], hints);
  const shownExample = example ?? (Array.isArray(examples) ? examples[0] : undefined);
  drawOutput([title, description, preset, shownExample, typed['enum'], typed['pattern']], way);
  return {
    ...typed,
    ...(typeof title === 'string' ? { title } : {}),
    ...(description === undefined ? {} : { description }),
    ...(isAbsent(preset) ? {} : { default: preset }),
    ...(isAbsent(shownExample) ? {} : { example: shownExample }),
  };
}
