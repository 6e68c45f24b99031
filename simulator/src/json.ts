/** Readers for unchecked bodies. */

export type JsonObject = Record<string, unknown>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** The member as an object, or an empty one, so that readers need no checks on the way. */
export function objectAt(value: unknown, key: string): JsonObject {
  const member = isObject(value) ? value[key] : undefined;
  return isObject(member) ? member : {};
}

export function arrayAt(value: unknown, key: string): unknown[] {
  const member = isObject(value) ? value[key] : undefined;
  return Array.isArray(member) ? member : [];
}

export function stringAt(value: unknown, key: string): string {
  const member = isObject(value) ? value[key] : undefined;
  return typeof member === 'string' ? member : '';
}

/** The objects of a list. Validators reject other elements. */
export function objectsIn(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** Parses JSON. Undefined for any other text. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
