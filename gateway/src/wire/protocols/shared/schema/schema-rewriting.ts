import { GatewayError } from '#errors/index.ts';
import { type Budget, draw, maxDepth } from '#json/index.ts';
import { type JsonRecord, isRecord } from '../values.ts';
import { resolveReference } from './tool-schema.ts';

/** The state of rewriting one schema into the protocol's dialect. */
export interface Rewriting {
  readonly root: JsonRecord;
  /** The references that are being followed, to notice a recursive schema. */
  readonly following: readonly string[];
  /** How many written schemas enclose it. */
  readonly depth: number;
  /** Declare the order of properties, which the model would write alphabetically. */
  readonly ordered: boolean;
  readonly notes: Notes;
}

interface Notes {
  /** How many more of its schemas may be visited. The rest is cut. */
  left: number;
  /** The request's budget. */
  readonly budget: Budget;
  /** A constraint was loosened or moved into words. */
  approximated: boolean;
  /** The written schema allows shapes that the original forbids. */
  widened: boolean;
}

/** The most schemas to visit: references to references can grow without bound. */
const mostOfOne = 20_000;

export function startRewriting(root: JsonRecord, ordered: boolean, budget: Budget): Rewriting {
  const notes: Notes = { left: mostOfOne, budget, approximated: false, widened: false };
  return { root, following: [], depth: 0, ordered, notes };
}

/** Counts visited members. @throws GatewayError `too_complex` */
export function count({ notes }: Rewriting, members: number): void {
  draw(notes.budget, 'schemas', members);
}

/**
 * Counts visited schemas, or copied members.
 * @throws GatewayError `too_complex` after too many in all schemas of the request.
 */
export function visit(way: Rewriting, schemas = 1): void {
  way.notes.left -= schemas;
  count(way, schemas);
}

/** Enters a schema one level deeper. @throws GatewayError `too_complex` */
export function inside(way: Rewriting): Rewriting {
  const depth = way.depth + 1;
  if (depth > maxDepth) throw new GatewayError('too_complex');
  return { ...way, depth };
}

/**
 * Counts a value each time that a reference makes the gateway write it.
 * @throws GatewayError `too_complex`
 */
export function drawOutput(value: unknown, { notes: { budget } }: Rewriting): void {
  const waiting = [value];
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (typeof next === 'string') draw(budget, 'output', next.length);
    else draw(budget, 'output');
    if (typeof next !== 'object' || next === null) continue;
    for (const name in next) {
      draw(budget, 'output', name.length);
      waiting.push((next as JsonRecord)[name]);
    }
  }
}

/** Puts a keyword that the dialect lacks into words for the model. @throws GatewayError `too_complex` */
export function hint(keyword: string, value: unknown, way: Rewriting): string {
  drawOutput(value, way);
  const text = JSON.stringify(value) ?? '';
  return `${keyword}: ${text.length > 200 ? `${text.slice(0, 200)}…` : text}`;
}

export function describe(description: unknown, hints: readonly string[]): string | undefined {
  const descriptions = typeof description === 'string' ? [description] : [];
  const all = [...descriptions, ...hints.map((text) => `(${text})`)].filter(Boolean);
  return all.length > 0 ? all.join(' ') : undefined;
}

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
      const resolvedSchema = isEndless ? null : resolveReference(at.root, reference);
      if (resolvedSchema === null) return null;
      at = { ...at, following: [...at.following, reference] };
      flat = mergeSchemas(resolvedSchema, allOf === undefined ? rest : { ...rest, allOf }, at);
    } else if (Array.isArray(allOf)) {
      const own = new Set<object>();
      const parts = allOf.filter(isRecord);
      flat = parts.reduce((merged, part) => mergeSchemas(merged, part, at, own), rest);
    } else return { schema: flat, way: at };
  }
  return null;
}
