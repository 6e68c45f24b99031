import { tokenParts, type ApartPart, type TokenPart, type TokenUsage } from '#canonical/index.ts';
import type { Line } from './cost.ts';
import { type PriceRates, type TokenRates, tokenRatesFor } from './rates.ts';
import { unpriced } from './surcharges.ts';

/**
 * The lines of a text response, and of an image priced by tokens. Reasoning is part of the output and has no line. Tokens
 * that are not text have lines of their own where the price has parts for them. Empty for a price without token parts:
 * tokens are free there. The length of the whole prompt chooses the rates.
 */
export function tokenLines(price: PriceRates, tokens: TokenUsage): Line[] {
  const rates = ratesFor(price, tokens);
  if (rates === null) return [];
  const lines: Line[] = [];
  const add = (part: TokenPart, quantity: number): void => {
    const rate = rates[part];
    if (rate !== null && quantity !== 0) lines.push({ rate, quantity });
  };
  /** Adds a count as text, without what has parts of its own, and these. */
  const divide = (count: 'input' | 'cacheRead' | 'output', image: ApartPart, audio: ApartPart) => {
    const images = rates[image] === null ? 0 : (tokens[image] ?? 0);
    const sound = rates[audio] === null ? 0 : (tokens[audio] ?? 0);
    add(count, tokens[count] - images - sound);
    add(image, images);
    add(audio, sound);
  };
  divide('input', 'inputImage', 'inputAudio');
  divide('cacheRead', 'cacheReadImage', 'cacheReadAudio');
  add('cacheWrite', tokens.cacheWrite);
  add('cacheWrite1h', tokens.cacheWrite1h);
  divide('output', 'outputImage', 'outputAudio');
  return lines;
}

/**
 * Parts that vendors charge for apart although the price has none for them: they are charged as text, and marked. The
 * price of text is usual for images that go in.
 */
const chargedApart = ['inputAudio', 'cacheReadAudio', 'outputImage', 'outputAudio'] as const;

/** Marks, at no cost, for tokens of a text response that are charged as text because the price lacks their part. */
export function unpricedLines(price: PriceRates, tokens: TokenUsage): Line[] {
  const rates = ratesFor(price, tokens);
  if (rates === null) return [];
  return chargedApart.flatMap((part) => {
    const quantity = tokens[part] ?? 0;
    return quantity === 0 || rates[part] !== null
      ? []
      : [{ rate: unpriced(tokenParts[part]), quantity }];
  });
}

function ratesFor(price: PriceRates, tokens: TokenUsage): TokenRates | null {
  return price.promptTiers.length === 0 ? price.tokens : tokenRatesFor(price, promptOf(tokens));
}

function promptOf({ input, cacheRead, cacheWrite, cacheWrite1h }: TokenUsage): number {
  return input + cacheRead + cacheWrite + cacheWrite1h;
}
