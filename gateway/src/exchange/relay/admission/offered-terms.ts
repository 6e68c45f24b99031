import { ratesOf } from '#billing/index.ts';
import type { Surcharges } from '#canonical/index.ts';
import type { Model, Route } from '#catalogue/index.ts';
import { GatewayError } from '#errors/index.ts';
import {
  isDear,
  joinedSurcharges,
  noSurcharges,
  vendorOf,
  type SurchargeFacts,
} from '#vendors/index.ts';

/** What the route's upstream charges for in addition to tokens. */
export function surchargesOf({ channel }: Route): SurchargeFacts {
  return vendorOf(channel)?.surcharges ?? noSurcharges;
}

/** What any of the routes' upstreams charges for in addition to tokens. */
export function surchargesOfAny(routes: readonly Route[]): SurchargeFacts {
  return joinedSurcharges(...routes.map(surchargesOf));
}

/** Does the model have a price for the term, or allow it without one? */
export function isOffered({ price, allow }: Pick<Model, 'price' | 'allow'>, term: string): boolean {
  return allow.has(term) || price?.multipliers?.[term] !== undefined;
}

/**
 * @param routes those that would get the terms
 * @throws GatewayError for a term that one of their upstreams charges for and that has no price
 */
export function requireOffered(
  terms: readonly string[],
  model: Pick<Model, 'price' | 'allow'>,
  routes: readonly Route[],
): void {
  for (const term of terms) {
    const isCharged = routes.some((route) => isDear(surchargesOf(route), term));
    if (!isCharged || isOffered(model, term)) continue;
    const [field = '', value = ''] = term.split('.');
    const fault =
      value === 'other' ? 'no other model may answer' : `'${value}' has no price for this model`;
    throw surchargeRefusal(field, `${fault}, please leave it out`);
  }
}

export function surchargeRefusal(param: string, rule: string): GatewayError {
  return new GatewayError('invalid_value', { values: { reason: `${param}: ${rule}` }, param });
}

/**
 * Sorts what the response reports: terms that multiply the price, and terms that the upstream charges for although they
 * have no price.
 * @param allow the model's list of terms that are not reported as unpriced
 */
export function chargedSurcharges(
  { reported, webSearches, imageTokens = 0 }: Surcharges,
  { price, allow }: Pick<Model, 'price' | 'allow'>,
  facts: SurchargeFacts,
): Surcharges | undefined {
  const multipliers = price === null ? null : ratesOf(price).multipliers;
  const terms = reported.filter(
    (term) => multipliers?.has(term) === true || (isDear(facts, term) && !allow.has(term)),
  );
  if (terms.length === 0 && webSearches === 0 && imageTokens === 0) return undefined;
  return { reported: terms, webSearches, ...(imageTokens > 0 && { imageTokens }) };
}
