import type { JsonRecord } from './values.ts';

/** Values that name what everybody gets, in answers and in requests. */
const ordinary: ReadonlySet<string> = new Set([
  'auto',
  'default',
  'standard',
  'standard_only',
  'on_demand',
  'unspecified',
  'global',
  'not_available',
]);

const valueShape = /^[a-z0-9_-]{1,40}$/;
const noTerms: readonly string[] = Object.freeze([]);

/** A field that may change a price and its value, as prices name the two; null for what everybody gets. */
export function termOf(field: string, value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const said = value.toLowerCase();
  // As protocol buffers call the values of an enumeration.
  const word = said.startsWith(`${field}_`) ? said.slice(field.length + 1) : said;
  return ordinary.has(word) || !valueShape.test(word) ? null : `${field}.${word}`;
}

/**
 * The terms that a request asks for, such as `service_tier.priority`; mostly none.
 * @param fields members of the body that may name one, called as prices call them
 */
export function askedTerms(json: JsonRecord, ...fields: readonly string[]): readonly string[] {
  let terms = noTerms;
  for (const field of fields) {
    const term = termOf(field, json[field]);
    if (term !== null) terms = [...terms, term];
  }
  return terms;
}

/** Members in which routers are given lists of other models that may answer in place of the one that is asked. */
const otherModels = ['models', 'fallbacks'];

/** The terms of routers: `models.other` where such a list names any. */
export function routerTerms(json: JsonRecord): readonly string[] {
  const named = otherModels.filter((name) => {
    const list = json[name];
    return Array.isArray(list) && list.length > 0;
  });
  return named.map((name) => `${name}.other`);
}
