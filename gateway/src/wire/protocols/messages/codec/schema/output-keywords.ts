import { doubleOf, isNumber } from '../../../shared/exact-json.ts';
import type { JsonRecord } from '../../../shared/values.ts';

/*
 * What the compiler of structured outputs takes, by its page
 * (https://platform.claude.com/docs/en/build-with-claude/structured-outputs, "JSON Schema limitations") and, where the page
 * is silent, by what it refuses: "For 'array' type, property 'prefixItems' is not supported", "For 'anyOf', 'type' is not
 * supported", "Schema type 'oneOf' is not supported", "Empty schema ({}) that accepts any JSON value is not supported".
 */

/** Keywords that it takes beside every other one. */
export const annotations: readonly string[] = ['title', 'description', 'default'];

/** Keywords that say nothing of a value, or nothing beyond what is written instead. */
const idle: ReadonlySet<string> = new Set([
  ...annotations,
  '$schema',
  '$id',
  '$anchor',
  '$comment',
  '$defs',
  'definitions',
  'discriminator',
  'nullable',
  'deprecated',
  'readOnly',
  'writeOnly',
  'unevaluatedProperties',
]);

/** Examples are worth saying, but nothing is lost with the keyword. */
const examples: ReadonlySet<string> = new Set(['example', 'examples']);

const formats: ReadonlySet<unknown> = new Set([
  'date-time',
  'time',
  'date',
  'duration',
  'email',
  'hostname',
  'uri',
  'ipv4',
  'ipv6',
  'uuid',
]);

/** Look-around, back-references and the bounds of words are not supported. */
const heavyPattern = /\(\?(?!:)|\\[1-9bBk]/;

const own: ReadonlyMap<string, (keyword: string, value: unknown) => boolean> = new Map([
  [
    'object',
    (keyword) =>
      keyword === 'properties' || keyword === 'required' || keyword === 'additionalProperties',
  ],
  [
    'array',
    (keyword, value) =>
      keyword === 'items' || (keyword === 'minItems' && isNumber(value) && doubleOf(value) <= 1),
  ],
  [
    'string',
    (keyword, value) =>
      (keyword === 'format' && formats.has(value)) ||
      (keyword === 'pattern' && typeof value === 'string' && !heavyPattern.test(value)),
  ],
]);

/** Whether the keyword may stand in a schema of this type. */
export function isTaken(type: string, keyword: string, value: unknown): boolean {
  return own.get(type)?.(keyword, value) ?? false;
}

/** The types that a keyword is about. It says nothing of values of another type. */
const subjects: ReadonlyMap<string, readonly string[]> = new Map(
  [
    ['properties required additionalProperties patternProperties propertyNames', ['object']],
    ['minProperties maxProperties dependentRequired dependentSchemas', ['object']],
    ['items prefixItems minItems maxItems uniqueItems contains unevaluatedItems', ['array']],
    ['pattern format minLength maxLength contentEncoding contentMediaType', ['string']],
    ['minimum maximum exclusiveMinimum exclusiveMaximum multipleOf', ['number', 'integer']],
  ].flatMap(([keywords, types]) =>
    (keywords as string)
      .split(' ')
      .map((keyword) => [keyword, types as readonly string[]] as const),
  ),
);

/** What a keyword becomes that may not: nothing, words, or words that replace a constraint. */
export function effectOf(
  keyword: string,
  value: unknown,
  types?: readonly string[],
): 'idle' | 'words' | 'constraint' {
  if (value === false || value === null || idle.has(keyword) || keyword.startsWith('x-')) {
    return 'idle';
  }
  const subject = subjects.get(keyword);
  if (types !== undefined && subject?.some((type) => types.includes(type)) === false) return 'idle';
  return examples.has(keyword) ? 'words' : 'constraint';
}

/** The type that a schema without one is about. */
export function guessedType(schema: JsonRecord): string | undefined {
  for (const keyword in schema) {
    const subject = subjects.get(keyword);
    if (subject !== undefined && schema[keyword] !== undefined) return subject[0];
  }
  return undefined;
}

/** Whether a schema says more than its annotations do. */
export function constrains(schema: JsonRecord): boolean {
  return Object.keys(schema).some((keyword) => effectOf(keyword, schema[keyword]) === 'constraint');
}

/** The limits of one request, over all its strict tools and its response format. */
export interface SchemaCost {
  /** Properties that may be left out. The limit: "Schemas contains too many optional parameters (25)". */
  readonly optional: number;
  /** Schemas with alternatives. The limit: "too many parameters with union types (17)". References are not followed. */
  readonly unions: number;
}

export const mostOptional = 24;
export const mostUnions = 16;
/** "The maximum number of strict tools supported is 20." */
export const mostStrictTools = 20;
