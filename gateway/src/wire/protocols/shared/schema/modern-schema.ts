import { isRecord, type JsonRecord } from '../values.ts';

/** Keywords of 2020-12 whose value is a schema, a list of schemas, or a map of schemas. */
const single = [
  'items',
  'additionalProperties',
  'not',
  'if',
  'then',
  'else',
  'contains',
  'propertyNames',
];
const lists = ['anyOf', 'oneOf', 'allOf', 'prefixItems'];
const maps = ['properties', '$defs', 'definitions', 'patternProperties'];

/**
 * A schema in the words of JSON Schema 2020-12, which upstreams require: earlier drafts wrote a tuple as a list of
 * `items`, exclusive bounds as a flag beside the bound, and `required` as a flag of the property. The type `any` and an
 * empty `enum`, which no value satisfies, are left out. Returns the same object if it has nothing of that kind.
 * @param onChange called if a keyword was written in another way; not for a null that stands for an absent list
 */
export function modernSchema(schema: JsonRecord, onChange: () => void): JsonRecord {
  // Nearly every schema is, and a copy of a large one costs more than looking at it.
  return isModern(schema) ? schema : rewritten(schema, onChange);
}

function rewritten(schema: JsonRecord, onChange: () => void): JsonRecord {
  const modern: Record<string, unknown> = { ...schema };
  let isChanged = false;
  const set = (name: string, value: unknown): void => {
    isChanged = true;
    if (value === undefined) delete modern[name];
    else modern[name] = value;
  };
  const rewrite = (name: string, value: unknown): void => {
    onChange();
    set(name, value);
  };
  if (Array.isArray(schema['items'])) {
    const { items, additionalItems } = schema;
    if (schema['prefixItems'] === undefined) rewrite('prefixItems', items);
    set('items', additionalItems);
    set('additionalItems', undefined);
  }
  const mapped = mapInner(modern, (inner) => rewritten(inner, onChange));
  if (mapped !== modern) {
    isChanged = true;
    Object.assign(modern, mapped);
  }
  const flagged: string[] = [];
  if (isRecord(schema['properties'])) {
    for (const [key, value] of Object.entries(schema['properties'])) {
      if (isRecord(value) && value['required'] === true) flagged.push(key);
    }
  }
  for (const [flag, bound] of bounds) {
    if (typeof schema[flag] !== 'boolean') continue;
    const limit = schema[flag] && typeof schema[bound] === 'number' ? schema[bound] : undefined;
    if (limit !== undefined) set(bound, undefined);
    rewrite(flag, limit);
  }
  const { required, type, enum: values } = schema;
  const names = Array.isArray(required) ? (required as unknown[]) : [];
  const missing = flagged.filter((name) => !names.includes(name));
  if (missing.length > 0) rewrite('required', [...names, ...missing]);
  else if (required !== undefined && !Array.isArray(required)) {
    if (required !== null) onChange();
    set('required', undefined);
  }
  if (type === 'any' || type === null) rewrite('type', undefined);
  if (Array.isArray(values) && values.length === 0) rewrite('enum', undefined);
  return isChanged ? modern : schema;
}

const bounds = [
  ['exclusiveMinimum', 'minimum'],
  ['exclusiveMaximum', 'maximum'],
] as const;

/** In which of the lists above a keyword is. */
const places: ReadonlyMap<string, 'single' | 'list' | 'map'> = new Map([
  ...single.map((name) => [name, 'single'] as const),
  ...lists.map((name) => [name, 'list'] as const),
  ...maps.map((name) => [name, 'map'] as const),
]);

/** The schema with each schema in it replaced by what `map` returns; the same object if none changed. */
export function mapInner(schema: JsonRecord, map: (inner: JsonRecord) => JsonRecord): JsonRecord {
  const inner = (value: unknown): unknown => (isRecord(value) ? map(value) : value);
  let changedMembers: Record<string, unknown> | null = null;
  for (const name in schema) {
    const before = schema[name];
    const after = mapMember(places.get(name), before, inner);
    if (after !== before) (changedMembers ??= { ...schema })[name] = after;
  }
  return changedMembers ?? schema;
}

function mapMember(
  place: 'single' | 'list' | 'map' | undefined,
  value: unknown,
  inner: (value: unknown) => unknown,
): unknown {
  if (place === 'single') return inner(value);
  if (place === 'list' && Array.isArray(value)) {
    const list = value.map(inner);
    return list.some((each, at) => each !== value[at]) ? list : value;
  }
  if (place !== 'map' || !isRecord(value)) return value;
  const entries = Object.entries(value).map(([key, each]) => [key, inner(each)] as const);
  return entries.some(([key, each]) => each !== value[key]) ? Object.fromEntries(entries) : value;
}

/** Whether `modernSchema` returns the schema as it is. */
export function isModern(schema: JsonRecord): boolean {
  for (const name in schema) {
    const value = schema[name];
    switch (places.get(name)) {
      case 'single':
        if (name === 'items' && Array.isArray(value)) return false;
        if (isRecord(value) && !isModern(value)) return false;
        break;
      case 'list':
        if (Array.isArray(value) && !value.every(isModernValue)) return false;
        break;
      case 'map':
        if (isRecord(value)) for (const key in value) if (!isModernValue(value[key])) return false;
        break;
      case undefined:
        if (!isModernKeyword(name, value)) return false;
    }
  }
  return true;
}

function isModernKeyword(name: string, value: unknown): boolean {
  switch (name) {
    case 'type':
      return value !== 'any' && value !== null;
    case 'required':
      return Array.isArray(value);
    case 'enum':
      return !Array.isArray(value) || value.length > 0;
    case 'exclusiveMinimum':
    case 'exclusiveMaximum':
      return typeof value !== 'boolean';
    default:
      return true;
  }
}

function isModernValue(value: unknown): boolean {
  return !isRecord(value) || isModern(value);
}
