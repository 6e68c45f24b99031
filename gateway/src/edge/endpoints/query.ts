/** The value of a query parameter; the first one if repeated, null if absent. */
export function queryText(query: unknown, name: string): string | null {
  if (typeof query !== 'object' || query === null || !Object.hasOwn(query, name)) return null;
  const value: unknown = Reflect.get(query, name);
  if (typeof value === 'string') return value;
  return Array.isArray(value) && typeof value[0] === 'string' ? value[0] : null;
}

/** A positive whole number in a query; null if absent or anything else. */
export function queryCount(query: unknown, name: string): number | null {
  const text = queryText(query, name);
  return text !== null && /^[1-9]\d{0,8}$/.test(text) ? Number(text) : null;
}
