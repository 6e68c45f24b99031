import type { JsonRecord } from './values.ts';

/** Values that stand for the ordinary price, in requests and in responses. */
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

/** A field that may change the price, with its value, as prices name the two. Null for the ordinary price. */
export function termOf(field: string, value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const said = value.toLowerCase();
  // Protocol buffers prefix the values of an enumeration.
  const word = said.startsWith(`${field}_`) ? said.slice(field.length + 1) : said;
  return ordinary.has(word) || !valueShape.test(word) ? null : `${field}.${word}`;
}

/**
 * The terms that a request asks for, such as `service_tier.priority`. Most requests ask for none.
 * @param fields members of the body that may name a term, under the names that prices use
 */
export function askedTerms(json: JsonRecord, ...fields: readonly string[]): readonly string[] {
  let terms = noTerms;
  for (const field of fields) {
    const term = termOf(field, json[field]);
    if (term !== null) terms = [...terms, term];
  }
  return terms;
}

/** Members that list other models, which a router may use in place of the requested one. */
const otherModels = ['models', 'fallbacks'];

/** `models.other` or `fallbacks.other` for each such list that is not empty. */
export function routerTerms(json: JsonRecord): readonly string[] {
  const named = otherModels.filter((name) => {
    const list = json[name];
    return Array.isArray(list) && list.length > 0;
  });
  return named.map((name) => `${name}.other`);
}
