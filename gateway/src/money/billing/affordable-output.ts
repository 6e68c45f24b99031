import type { Hold } from './billing.ts';
import { ceilingOf } from './cost.ts';
import { dearestRatesFor, type Reach } from './rates.ts';
import { dearestFactor } from './surcharges.ts';

/** Of what output costs, this many tokens are rounded together. */
const together = 1_000_000n;

export interface OutputDemand {
  readonly choices: number;
  /** Requested terms that may multiply the price. */
  readonly terms: readonly string[];
  readonly reach: Reach;
}

/**
 * How many tokens of output each choice may have for the money of a hold, beside this input, both in their dearest parts.
 * Null: output costs nothing.
 */
export function affordableOutput(
  { rates, multiplier, amount }: Pick<Hold, 'rates' | 'multiplier' | 'amount'>,
  inputTokens: number,
  { choices, terms, reach }: OutputDemand,
): number | null {
  const dearest = dearestRatesFor(rates, inputTokens, reach);
  if (dearest === null) return null;
  const factor = dearestFactor(rates, terms);
  const factored = factor === undefined ? {} : { factor };
  const input = { rate: dearest.input, quantity: BigInt(Math.ceil(inputTokens)), ...factored };
  const left = amount - ceilingOf([input], multiplier);
  const price = ceilingOf([{ rate: dearest.output, quantity: together, ...factored }], multiplier);
  if (price === 0n) return null;
  if (left <= 0n) return 0;
  const tokens = (left * together) / price / BigInt(Math.max(1, choices));
  return Number(tokens > 2n ** 40n ? 2n ** 40n : tokens);
}
