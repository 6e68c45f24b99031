/** The values of a query parameter, in order. */
export function queryTexts(query: unknown, name: string): readonly string[] {
  if (typeof query !== 'object' || query === null || !Object.hasOwn(query, name)) return [];
  const value: unknown = Reflect.get(query, name);
  return [value].flat().filter((text) => typeof text === 'string');
}

/** The value of a query parameter; the first one if repeated, null if absent. */
export function queryText(query: unknown, name: string): string | null {
  return queryTexts(query, name)[0] ?? null;
}

/** A positive whole number in a query; null if absent or anything else. */
export function queryCount(query: unknown, name: string): number | null {
  const text = queryText(query, name);
  return text !== null && /^[1-9]\d{0,8}$/.test(text) ? Number(text) : null;
}
