import { tokenParts, type TokenPart } from '#canonical/index.ts';
import type { ReceiptItem } from '#usage/index.ts';
import { scaled } from '#config/decimal.ts';
import { type CostLine, factorPlaces, type Multiplier, receiptOf } from './cost.ts';
import { type PriceRates, type Rate, tokenRatesFor } from './rates.ts';
import { factorOf } from './usage-lines.ts';

/**
 * What a receipt would have come to by another price, in nano-USD. Pure. Tokens of images that were charged as text
 * stay text.
 * @returns null where the receipt does not say it: for a part that the price lacks, or where several prompts share the
 *   receipt and their lengths choose the rates
 */
export function repricedCost(
  items: readonly ReceiptItem[],
  price: PriceRates,
  multiplier: Multiplier,
): bigint | null {
  const named = items.map((item) => ({ ...item, ...nameOf(item.part) }));
  const prompt = named
    .filter(({ part }) => part in parts && !part.startsWith('output'))
    .reduce((sum, { quantity }) => sum + quantity, 0);
  if (price.promptTiers.length > 0 && named.some(({ part }) => part === 'iterations')) return null;
  const lines: CostLine[] = [];
  for (const { part, quantity, surcharges, rate: rateThen } of named) {
    const rate = rateOf(price, part, prompt);
    // Marks, at no cost: some say that tokens were charged as text for want of a part, which this price may have.
    if (rate === null && rateThen === '0') {
      if (isPriced(price, part.replace(/^unpriced\./, ''))) return null;
      continue;
    }
    if (rate === null) return null;
    const factor = factorOf(price, surcharges);
    if (factor === undefined && surcharges.length > 0) return null;
    lines.push({
      rate,
      quantity: rate.inThousandths ? Math.round(quantity * 1000) : quantity,
      ...(factor !== undefined && { factor }),
    });
  }
  return receiptOf(lines, multiplier).cost;
}

/** What a receipt would have come to by another factor of its group, in nano-USD. Pure. */
export function rescaledCost(items: readonly ReceiptItem[], multiplier: Multiplier): bigint {
  const lines = items.map(({ part, quantity, rate: text }): CostLine => {
    // In thousandths, as seconds are: every quantity is a whole number of them.
    const rate = { part, perUnit: 1n, text, inThousandths: true };
    const factor = { suffix: '', value: scaled(text, factorPlaces) ?? 0n };
    return { rate, quantity: Math.round(quantity * 1000), factor };
  });
  return receiptOf(lines, multiplier).cost;
}

const parts: Readonly<Record<string, TokenPart>> = Object.fromEntries(
  Object.entries(tokenParts).map(([part, name]) => [name, part as TokenPart]),
);

/** What a part is charged as where the price has none of its own. */
const text: Readonly<Partial<Record<TokenPart, TokenPart>>> = {
  inputImage: 'input',
  inputAudio: 'input',
  cacheReadImage: 'cacheRead',
  cacheReadAudio: 'cacheRead',
  outputImage: 'output',
  outputAudio: 'output',
};

/** `tiers.200000.input@service_tier.priority`: the tier is chosen anew, the surcharges stay. */
function nameOf(item: string): { readonly part: string; readonly surcharges: readonly string[] } {
  const [part = '', ...surcharges] = item.split('@');
  return { part: part.replace(/^tiers\.\d+\./, ''), surcharges };
}

function isPriced({ tokens }: PriceRates, part: string): boolean {
  const tokenPart = parts[part];
  return tokenPart !== undefined && tokens !== null && tokens[tokenPart] !== null;
}

function rateOf(price: PriceRates, part: string, prompt: number): Rate | null {
  const tokenPart = parts[part];
  if (tokenPart !== undefined) {
    const rates = tokenRatesFor(price, prompt);
    if (rates === null) return tokenPart === 'input' ? price.input : null;
    return rates[tokenPart] ?? rates[text[tokenPart] ?? tokenPart];
  }
  const [kind = '', ...rest] = part.split('.');
  const name = rest.join('.');
  const tier = price.imageTiers.find((each) => each.name === name);
  switch (kind) {
    case 'image_tiers':
      return tier?.image ?? null;
    case 'layer_factor':
      return tier?.layer ?? null;
    case 'reference_image':
      return price.referenceImage;
    case 'video_second':
      return price.videoSecond.get(name) ?? null;
    case 'video_tokens': {
      const side = rest.at(-1);
      const rates = price.videoTokens.get(rest.slice(0, -1).join('.'));
      return (side === 'text' ? rates?.text : rates?.withVideo) ?? null;
    }
    case 'fees':
      return price.fees.get(name) ?? null;
    default:
      return null;
  }
}
