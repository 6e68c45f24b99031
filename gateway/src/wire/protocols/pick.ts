import type { JsonRecord } from './values.ts';

/** The present members among these names, in the order of the names. */
export function pick(json: JsonRecord, names: readonly string[]): JsonRecord {
  return Object.fromEntries(
    names.filter((name) => json[name] !== undefined).map((name) => [name, json[name]]),
  );
}
