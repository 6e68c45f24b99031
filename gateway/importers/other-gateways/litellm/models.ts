import {
  listedCount,
  listedEmbeddingPrice,
  listedPrice,
  litellmCosts,
  litellmParts,
  perTokenToMillion,
  type ExactMapping,
} from '../../price-lists/index.ts';
import type { DeclaredPrice } from '#config/index.ts';
import type { DraftModel } from '../draft.ts';
import { mappingAt } from './values.ts';

/** The members of a deployment that are read here. */
export const modelSettings: readonly string[] = [
  ...Object.values(litellmCosts).flat(),
  'max_input_tokens',
  'max_output_tokens',
];

/** Facts about a model besides its name: prices and limits. Null: none. */
export function readModel(entry: ExactMapping): DraftModel | null {
  const modelFacts = { ...mappingAt(entry, 'model_info'), ...mappingAt(entry, 'litellm_params') };
  const contextWindow = listedCount(modelFacts['max_input_tokens']);
  const maxOutputTokens = listedCount(modelFacts['max_output_tokens']);
  const { mode } = mappingAt(entry, 'model_info');
  // An image has a price of its own there, which a price per token cannot say.
  if (mode === 'image_generation') {
    return { type: 'image', price: null, contextWindow, maxOutputTokens: null };
  }
  if (mode === 'embedding') {
    return {
      type: 'embedding',
      price: embeddingPriceOf(modelFacts),
      contextWindow,
      maxOutputTokens: null,
    };
  }
  const price = priceOf(modelFacts);
  if (price === null && contextWindow === null && maxOutputTokens === null) return null;
  return { type: null, price, contextWindow, maxOutputTokens };
}

function embeddingPriceOf(modelFacts: ExactMapping): DeclaredPrice | null {
  const price = listedEmbeddingPrice(litellmParts(modelFacts), perTokenToMillion);
  if (price === 'listed as free') return { input: '0' };
  return typeof price === 'string' ? null : price;
}

function priceOf(modelFacts: ExactMapping): DeclaredPrice | null {
  const price = listedPrice(litellmParts(modelFacts), perTokenToMillion);
  // Here, unlike in a public list, somebody wrote the zeros on purpose.
  if (price === 'listed as free') return { input: '0', output: '0' };
  return typeof price === 'string' ? null : price;
}
