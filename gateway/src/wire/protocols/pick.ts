import type { JsonRecord } from './values.ts';

/** The members of these names that are there, in the order of the names. */
export function pick(json: JsonRecord, names: readonly string[]): JsonRecord {
  return Object.fromEntries(
    names.filter((name) => json[name] !== undefined).map((name) => [name, json[name]]),
  );
}
