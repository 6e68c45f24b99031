import { tokenBounds, type Line, type PriceRates, type Rate } from '#billing/index.ts';
import type { Model } from '#catalogue/index.ts';
import type { EmbeddingsRequest } from '#protocols/index.ts';

type BoundedRequest = Pick<EmbeddingsRequest, 'body' | 'inputBytes' | 'extent'>;
type BoundingModel = Pick<Model, 'contextWindow' | 'maxOutputTokens'>;

/**
 * The most that a request can use, for its hold: its input. There is no output.
 * @throws RangeError for a price without input, at which no embedding model is served.
 */
export function boundEmbed(
  request: BoundedRequest,
  model: BoundingModel,
  rates: PriceRates,
): readonly Line<bigint>[] {
  return [{ rate: inputRate(rates), quantity: mostTokens(request, model) }];
}

/** @throws RangeError for a price without input: nothing is given away for a defect. */
export function inputRate({ inputTokens }: PriceRates): Rate {
  if (inputTokens === null) throw new RangeError('no price for embeddings');
  return inputTokens.input;
}

/** Lists of tokens count themselves; text has as many as its bytes can make, and anything else fills its window. */
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
