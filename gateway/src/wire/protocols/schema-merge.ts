import { maxDepth } from '#json/index.ts';
import { resolveReference } from './merged-arguments.ts';
import { isRecord, type JsonRecord } from './values.ts';
import { count, drawOutput, type Rewriting, visit } from './schema-rewriting.ts';

/**
 * Merges two schemas, as in `allOf`. Where they contradict each other, the second one wins.
 * @param own objects that earlier merges into the same schema created. They are changed in place, so that a long list
 *   of schemas is not copied for each of them.
 */
export function mergeSchemas(
  first: JsonRecord,
  second: JsonRecord,
  way: Rewriting,
  own = new Set<object>(),
): JsonRecord {
  const merged = ownRecord(first, way, own);
  const added = Object.entries(second);
  count(way, added.length);
  for (const [name, value] of added) {
    const before = merged[name];
    if (before === undefined || before === value) define(merged, name, value);
    else if (name === 'properties' && isRecord(before) && isRecord(value)) {
      merged[name] = mergeProperties(before, value, way, own);
    } else if (lists.has(name) && Array.isArray(before) && Array.isArray(value)) {
      count(way, value.length);
      const list = ownList(before, way, own);
      for (const element of value as unknown[]) list.push(element);
      merged[name] = list;
    } else {
      if (!annotations.has(name)) way.notes.approximated = true;
      merged[name] = value;
    }
  }
  return merged;
}

const lists: ReadonlySet<string> = new Set(['required', 'allOf']);
const annotations: ReadonlySet<string> = new Set(['title', 'description', 'default', 'examples']);

function mergeProperties(
  first: JsonRecord,
  second: JsonRecord,
  way: Rewriting,
  own: Set<object>,
): JsonRecord {
  const merged = ownRecord(first, way, own);
  const added = Object.entries(second);
  count(way, added.length);
  for (const [name, value] of added) {
    const before = Object.hasOwn(merged, name) ? merged[name] : undefined;
    const both =
      isRecord(before) && isRecord(value) ? mergeSchemas(before, value, way, own) : value;
    define(merged, name, both);
  }
  return merged;
}

/** The object itself if a merge created it. Copying a large schema costs as much as visiting it. */
function ownRecord(value: JsonRecord, way: Rewriting, own: Set<object>): Record<string, unknown> {
  if (own.has(value)) return value;
  const entries = Object.entries(value);
  visit(way, entries.length);
  const copy: Record<string, unknown> = Object.fromEntries(entries);
  own.add(copy);
  return copy;
}

function ownList(value: unknown[], way: Rewriting, own: Set<object>): unknown[] {
  if (own.has(value)) return value;
  count(way, value.length);
  const copy = [...value];
  own.add(copy);
  return copy;
}

/** Sets a member under any name: a property may be called `__proto__`. */
function define(target: Record<string, unknown>, name: string, value: unknown): void {
  Object.defineProperty(target, name, {
    value,
    enumerable: true,
    configurable: true,
    writable: true,
  });
}

/**
 * The schema without `$ref` and `allOf`. Null for a recursive schema, which must end somewhere because the dialect has
 * no references.
 */
export function flatten(
  schema: JsonRecord,
  way: Rewriting,
): { schema: JsonRecord; way: Rewriting } | null {
  let flat = schema;
  let at = way;
  for (let steps = 0; steps < 100; steps += 1) {
    const { $ref: reference, allOf, ...rest } = flat;
    if (typeof reference === 'string') {
      drawOutput(reference, way);
      const { following } = at;
      const isEndless = following.length > maxDepth || following.includes(reference);
      const found = isEndless ? null : resolveReference(at.root, reference);
      if (found === null) return null;
      at = { ...at, following: [...at.following, reference] };
      flat = mergeSchemas(found, allOf === undefined ? rest : { ...rest, allOf }, at);
    } else if (Array.isArray(allOf)) {
      const own = new Set<object>();
      const parts = allOf.filter(isRecord);
      flat = parts.reduce((merged, part) => mergeSchemas(merged, part, at, own), rest);
    } else return { schema: flat, way: at };
  }
  return null;
}
