import { priceOf, type Model } from './query.ts';
import type { Column } from './search.ts';

/** What models are ordered by. */
export const valueOf: Readonly<Record<Column, (model: Model) => number | string | null>> = {
  model: ({ id }) => id,
  window: ({ context_window: tokens }) => tokens,
  input: (model) => rate(model, 'input'),
  // As input, where nothing else is said.
  cached: (model) => rate(model, 'cache_read') ?? rate(model, 'input'),
  output: (model) => rate(model, 'output'),
  success: ({ recent }) => recent?.success ?? null,
  firstToken: ({ recent }) => recent?.first_token_ms ?? null,
  speed: ({ recent }) => recent?.tokens_per_second ?? null,
};

function rate(model: Model, part: string): number | null {
  const price = model.priced ? priceOf(model, part) : null;
  return price === null ? null : Number(price);
}

/** Whether the highest is what is read first. */
export const isHighFirst = (column: Column): boolean =>
  column === 'window' || column === 'success' || column === 'speed';
