import { tokenBounds, type Line, type PriceRates, type Rate } from '#billing/index.ts';
import type { Model } from '#catalogue/index.ts';
import type { EmbeddingsRequest } from '#protocols/index.ts';

type BoundedRequest = Pick<EmbeddingsRequest, 'body' | 'inputBytes' | 'extent'>;
type BoundingModel = Pick<Model, 'contextWindow' | 'maxOutputTokens'>;

/**
 * The most that a request can use, for its hold. It has input only.
 * @throws RangeError for a price without `input`; a model without that price is never served.
 */
export function boundEmbed(
  request: BoundedRequest,
  model: BoundingModel,
  rates: PriceRates,
): readonly Line<bigint>[] {
  return [{ rate: inputRate(rates), quantity: mostTokens(request, model) }];
}

/** @throws RangeError for a price without `input`, so that a defect does not make requests free. */
export function inputRate({ input }: PriceRates): Rate {
  if (input === null) throw new RangeError('no price for embeddings');
  return input;
}

/**
 * A list of tokens has as many tokens as elements, a text at most as many as bytes. Anything else is taken to fill the
 * model's window.
 */
function mostTokens(
  { body, inputBytes, extent: { items, tokens, unseen } }: BoundedRequest,
  model: BoundingModel,
): bigint {
  const asText = (bodyBytes: number): bigint =>
    tokenBounds(model, { bodyBytes, outputLimit: null, choices: null }).input;
  if (tokens !== null) return BigInt(tokens) + asText(body.length - inputBytes);
  const said = asText(body.length);
  if (!unseen) return said;
  const windows = tokenBounds(model, {
    bodyBytes: 0,
    outputLimit: null,
    choices: items,
    extent: unseenInput,
  }).input;
  return said > windows ? said : windows;
}

const unseenInput = {
  images: 0,
  imageTokens: 0,
  imageBytes: 0,
  unseen: true,
  hostedTools: false,
} as const;
