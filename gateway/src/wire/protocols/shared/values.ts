import { hash } from 'node:crypto';

/** Narrowing of parsed JSON. */
export type JsonRecord = Readonly<Record<string, unknown>>;

/** A JSON object: neither null nor an array. */
export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The object at `key`, or an empty one, for optional details. */
export function recordAt(value: JsonRecord, key: string): JsonRecord {
  const inner = value[key];
  return isRecord(inner) ? inner : emptyRecord;
}

/** The objects in a list; empty if the value is not a list. */
export function recordsIn(list: unknown): readonly JsonRecord[] {
  return Array.isArray(list) ? list.filter(isRecord) : [];
}

const emptyRecord: JsonRecord = Object.freeze({});

/** The value if it is a text; empty otherwise. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The value if it is a text; null otherwise. */
export function optionalText(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

/** Whether a number survives being written again: finite, and not an integer that a double rounds. */
export function isWritable(value: unknown): value is number {
  return typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER;
}

export const writableRule = 'must be a number of at most 2^53 - 1';

export function isAbsent(value: unknown): value is null | undefined {
  return value === undefined || value === null;
}

/** The present members among these names, in the order of the names. */
export function pick(json: JsonRecord, names: readonly string[]): JsonRecord {
  return Object.fromEntries(
    names.filter((name) => json[name] !== undefined).map((name) => [name, json[name]]),
  );
}

/** Hexadecimal digits derived from the parts alone, so that the same history gives the same ids. */
export function digest(length: number, ...parts: readonly (string | number)[]): string {
  return hash('sha256', JSON.stringify(parts), 'hex').slice(0, length);
}
