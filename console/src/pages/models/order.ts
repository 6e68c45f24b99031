import { priceOf, type Model } from './query.ts';
import type { Column, Order } from './search.ts';

const valueOf: Readonly<Record<Exclude<Column, 'model'>, (model: Model) => number | null>> = {
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

/** In this order; without one, as they came. Models without a value come last either way. */
export function inOrder(models: readonly Model[], order: Order | undefined): readonly Model[] {
  if (order === undefined) return models;
  const sign = order.startsWith('-') ? -1 : 1;
  const column = order.replace('-', '') as Column;
  if (column === 'model') return models.toSorted((a, b) => sign * a.id.localeCompare(b.id, 'en'));
  return models.toSorted((a, b) => {
    const [left, right] = [valueOf[column](a), valueOf[column](b)];
    if (left === null || right === null) return Number(left === null) - Number(right === null);
    return sign * (left - right);
  });
}
