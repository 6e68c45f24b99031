import type { TokenUsage } from '#canonical/index.ts';
import type { Line } from './cost.ts';
import { type PriceRates, tokenRatesFor } from './rates.ts';

/** Tokens in normal form with those of pictures separate: `input` and `output` then exclude them. */
export interface PricedTokens extends TokenUsage {
  readonly inputImage?: number;
  readonly outputImage?: number;
}

/**
 * The lines of a text response, and of an image priced by tokens. Reasoning is part of the output and has no line.
 * Empty for a price without token parts: tokens are free there. The length of the whole prompt chooses the rates.
 */
export function tokenLines(price: PriceRates, tokens: PricedTokens): Line[] {
  const rates =
    price.promptTiers.length === 0 ? price.tokens : tokenRatesFor(price, promptOf(tokens));
  if (rates === null) return [];
  const lines: Line[] = [];
  const add = (rate: Line['rate'], quantity: number): void => {
    if (quantity !== 0) lines.push({ rate, quantity });
  };
  add(rates.input, tokens.input);
  add(rates.inputImage, tokens.inputImage ?? 0);
  add(rates.cacheRead, tokens.cacheRead);
  add(rates.cacheWrite, tokens.cacheWrite);
  add(rates.cacheWrite1h, tokens.cacheWrite1h);
  add(rates.output, tokens.output);
  add(rates.outputImage, tokens.outputImage ?? 0);
  return lines;
}

function promptOf(tokens: PricedTokens): number {
  const { input, inputImage = 0, cacheRead, cacheWrite, cacheWrite1h } = tokens;
  return input + inputImage + cacheRead + cacheWrite + cacheWrite1h;
}
