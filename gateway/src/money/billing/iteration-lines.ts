import type { Iteration } from '#canonical/index.ts';
import type { Line } from './cost.ts';
import type { PriceRates } from './rates.ts';
import { markOf, unpriced } from './surcharges.ts';
import { tokenLines } from './token-lines.ts';

/**
 * The lines of a response of several samplings, one for each part of the price: the length of each prompt chooses the
 * rates of its sampling.
 */
export function iterationLines(price: PriceRates, iterations: readonly Iteration[]): Line[] {
  const lines = new Map<string, Line>();
  for (const { rate, quantity } of iterations.flatMap(({ tokens }) => tokenLines(price, tokens))) {
    const before = lines.get(rate.part)?.quantity ?? 0;
    lines.set(rate.part, { rate, quantity: before + quantity });
  }
  return [...lines.values()];
}

/**
 * Lines at no cost: how many samplings there were, if more than one, and which other models made some of them, since these
 * are charged at the price of the requested model.
 */
export function iterationMarks(iterations: readonly Iteration[]): Line[] {
  const marks =
    iterations.length > 1 ? [{ rate: markOf('iterations'), quantity: iterations.length }] : [];
  const models = Map.groupBy(
    iterations.flatMap(({ model }) => (model === undefined ? [] : [model])),
    (model) => model,
  );
  for (const [model, { length }] of models) {
    marks.push({ rate: unpriced(`model.${model}`), quantity: length });
  }
  return marks;
}
