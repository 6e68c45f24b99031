import { textBound, type Line, type PriceRates } from '#billing/index.ts';
import { familyOf } from '#estimation/index.ts';
import type { TextInput } from './input.ts';
import { namedRoutes } from '../exchange/named-routes.ts';
import type { CheckedText } from './prepared.ts';

/** The most that a text request can use, for its hold. */
export function boundText(
  input: TextInput,
  checked: CheckedText,
  rates: PriceRates,
): readonly Line<bigint>[] {
  const { request, resolved, terms } = checked;
  const { maxOutputTokens, choices, webSearches, extent } = request;
  return textBound(rates, resolved.model, {
    bodyBytes: input.body.length,
    outputLimit: maxOutputTokens,
    choices,
    terms,
    ...(webSearches !== undefined && { webSearches }),
    extent: { ...extent, imageTokens: mostImageTokens(input, checked) },
  });
}

/**
 * The most tokens that one image takes at any model that may serve the request, by the models' names at the upstreams.
 */
function mostImageTokens(input: TextInput, { request, resolved }: CheckedText): number {
  if (request.extent.images === 0) return 0;
  const { protocol } = input;
  const names = new Set(namedRoutes(input, resolved).map(({ upstreamModel }) => upstreamModel));
  if (names.size === 0) names.add(resolved.model.id);
  return Math.max(...names.values().map((name) => familyOf({ model: name, protocol }).image.most));
}
