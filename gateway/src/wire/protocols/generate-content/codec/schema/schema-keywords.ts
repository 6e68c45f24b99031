import { doubleOf, isNumber } from '../../../shared/exact-json.ts';
import { isRecord, type JsonRecord } from '../../../shared/values.ts';
import { hint, type Rewriting } from '../../../shared/schema/schema-rewriting.ts';

/** The keywords that the dialect has for one type, and those that must be given in words. */
export interface TypedKeywords {
  readonly keywords: JsonRecord;
  readonly hints: readonly string[];
}

type Reader = (schema: JsonRecord, way: Rewriting) => TypedKeywords;

/** Scalar types. `json-schema.ts` rewrites arrays and objects. */
export const scalarReaders: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['string', readText],
  ['number', readNumeric],
  ['integer', readNumeric],
  ['boolean', readBoolean],
  ['null', () => ({ keywords: {}, hints: [] })],
]);

/** The named members that are finite numbers. */
export function numbers(schema: JsonRecord, names: readonly string[]): JsonRecord {
  const foundNames = names.filter((name) => isNumber(schema[name]));
  return Object.fromEntries(foundNames.map((name) => [name, schema[name]]));
}

/** The values that `enum` or `const` allows, without null, which becomes `nullable`. */
export function allowedValues(schema: JsonRecord): readonly unknown[] | null {
  if (schema['const'] !== undefined) return [schema['const']].filter((value) => value !== null);
  const values = schema['enum'];
  return Array.isArray(values) ? values.filter((value) => value !== null) : null;
}

function readText(schema: JsonRecord, way: Rewriting): TypedKeywords {
  const hints: string[] = [];
  const keywords: Record<string, unknown> = numbers(schema, ['minLength', 'maxLength']);
  if (typeof schema['pattern'] === 'string') keywords['pattern'] = schema['pattern'];
  const { format } = schema;
  // Some models refuse other formats, and the keyword is only an annotation.
  if (format === 'date-time') keywords['format'] = format;
  else if (typeof format === 'string' && format !== 'enum') hints.push(hint('format', format, way));
  const values = allowedValues(schema);
  if (values !== null) {
    // The API refuses an empty text in a list of values.
    const texts = values.filter((value) => typeof value === 'string' && value !== '');
    if (texts.length > 0) keywords['enum'] = texts;
    if (texts.length < values.length) {
      hints.push(hint('one of', values, way));
      way.notes.approximated = true;
    }
  }
  return { keywords, hints };
}

const numericFormats: ReadonlySet<unknown> = new Set(['float', 'double', 'int32', 'int64']);

function readNumeric(schema: JsonRecord, way: Rewriting): TypedKeywords {
  const hints: string[] = [];
  const keywords: Record<string, unknown> = numbers(schema, ['minimum', 'maximum']);
  if (numericFormats.has(schema['format'])) keywords['format'] = schema['format'];
  for (const [bound, name, step] of [
    ['exclusiveMinimum', 'minimum', 1],
    ['exclusiveMaximum', 'maximum', -1],
  ] as const) {
    const value = schema[bound];
    if (!isNumber(value)) continue;
    // The integer next to a number that no double holds is unknown.
    const whole =
      schema['type'] === 'integer' && typeof value === 'number' && Number.isInteger(value);
    if (keywords[name] === undefined) keywords[name] = whole ? value + step : value;
    if (!whole) {
      hints.push(hint(bound, value, way));
      way.notes.approximated = true;
    }
  }
  const values = allowedValues(schema);
  if (values !== null && values.length > 0) {
    // Only strings can have lists of values.
    const [value] = values;
    if (values.length === 1 && isNumber(value)) {
      keywords['minimum'] = value;
      keywords['maximum'] = value;
    } else {
      hints.push(hint('one of', values, way));
      way.notes.approximated = true;
    }
  }
  return { keywords, hints };
}

function readBoolean(schema: JsonRecord, way: Rewriting): TypedKeywords {
  const values = allowedValues(schema);
  if (values === null || values.length !== 1) return { keywords: {}, hints: [] };
  way.notes.approximated = true;
  return { keywords: {}, hints: [hint('always', values[0], way)] };
}

const wordless: readonly string[] = ['multipleOf', 'uniqueItems', 'propertyNames', 'contains'];
const shaping: readonly string[] = ['not', 'if', 'patternProperties', 'dependentSchemas'];

/** Keywords that the dialect has for no type. */
export function unsayable(schema: JsonRecord, way: Rewriting): readonly string[] {
  const isSet = (name: string) => schema[name] !== undefined && schema[name] !== false;
  const loose = wordless.filter(isSet);
  const shapes = shaping.filter(isSet);
  if (loose.length > 0) way.notes.approximated = true;
  if (shapes.length > 0) way.notes.widened = true;
  return [...loose, ...shapes].map((name) => hint(name, schema[name], way));
}

/** The types that a schema allows: declared, or guessed from its other keywords. */
export function typesOf(schema: JsonRecord): readonly string[] {
  const { type } = schema;
  if (typeof type === 'string') return [type.toLowerCase()];
  if (Array.isArray(type)) {
    return type.filter((item) => typeof item === 'string').map((item) => item.toLowerCase());
  }
  if (isRecord(schema['properties']) || Array.isArray(schema['required'])) return ['object'];
  if (schema['items'] !== undefined || schema['prefixItems'] !== undefined) return ['array'];
  const values = allowedValues(schema);
  if (values !== null && values.length > 0) return [...new Set(values.map(typeOfValue))];
  if (schema['const'] === null) return ['null'];
  if (typeof schema['pattern'] === 'string' || isNumber(schema['minLength'])) {
    return ['string'];
  }
  return isNumber(schema['minimum']) ? ['number'] : [];
}

function typeOfValue(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (isNumber(value)) return Number.isInteger(doubleOf(value)) ? 'integer' : 'number';
  return typeof value === 'object' ? 'object' : typeof value;
}
