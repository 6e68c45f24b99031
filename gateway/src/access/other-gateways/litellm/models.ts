import {
  listedCount,
  listedEmbeddingPrice,
  listedPrice,
  perTokenToMillion,
  type ExactMapping,
} from '#price-lists/index.ts';
import type { DeclaredPrice } from '#config/index.ts';
import type { DraftModel } from '../draft.ts';
import { mappingAt } from './values.ts';

/** Per token, in USD. */
const costs = {
  input: 'input_cost_per_token',
  cacheRead: 'cache_read_input_token_cost',
  cacheWrite: 'cache_creation_input_token_cost',
  cacheWrite1h: 'cache_creation_input_token_cost_above_1hr',
  output: 'output_cost_per_token',
} as const;

/** The members of a deployment that are read here. */
export const modelSettings: readonly string[] = [
  ...Object.values(costs),
  'max_input_tokens',
  'max_output_tokens',
];

/** Facts about a model besides its name: prices and limits. Null: none. */
export function readModel(entry: ExactMapping): DraftModel | null {
  const said = { ...mappingAt(entry, 'model_info'), ...mappingAt(entry, 'litellm_params') };
  const contextWindow = listedCount(said['max_input_tokens']);
  const maxOutputTokens = listedCount(said['max_output_tokens']);
  if (isEmbedding(entry)) {
    return {
      type: 'embedding',
      price: embeddingPriceOf(said),
      contextWindow,
      maxOutputTokens: null,
    };
  }
  const price = priceOf(said);
  if (price === null && contextWindow === null && maxOutputTokens === null) return null;
  return { type: null, price, contextWindow, maxOutputTokens };
}

function isEmbedding(entry: ExactMapping): boolean {
  return mappingAt(entry, 'model_info')['mode'] === 'embedding';
}

function embeddingPriceOf(said: ExactMapping): DeclaredPrice | null {
  const parts = { input: said[costs.input], output: said[costs.output] };
  const price = listedEmbeddingPrice(parts, perTokenToMillion);
  if (price === 'listed as free') return { input: '0' };
  return typeof price === 'string' ? null : price;
}

function priceOf(said: ExactMapping): DeclaredPrice | null {
  const price = listedPrice(
    {
      input: said[costs.input],
      inputImage: null,
      outputImage: null,
      cacheRead: said[costs.cacheRead],
      cacheWrite: said[costs.cacheWrite],
      cacheWrite1h: said[costs.cacheWrite1h],
      output: said[costs.output],
    },
    perTokenToMillion,
  );
  // Here, unlike in a public list, somebody wrote the zeros on purpose.
  if (price === 'listed as free') return { input: '0', output: '0' };
  return typeof price === 'string' ? null : price;
}
