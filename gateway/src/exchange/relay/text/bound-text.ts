import { textBound, type Line, type PriceRates, type Reach } from '#billing/index.ts';
import { familyOf } from '#estimation/index.ts';
import type { WireRequest } from '#protocols/index.ts';
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
    reach: reachOf(request),
  });
}

/** The kinds of tokens that a request can be charged for. What is not seen of its input may be anything. */
export function reachOf({
  extent,
  outputKinds,
}: Pick<WireRequest, 'extent' | 'outputKinds'>): Reach {
  const { images, unseen, hostedTools } = extent;
  return {
    inputImage: images > 0 || unseen || hostedTools,
    inputAudio: unseen,
    outputImage: outputKinds?.image ?? true,
    outputAudio: outputKinds?.audio ?? true,
  };
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
