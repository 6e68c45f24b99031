import {
  tokenParts,
  type ApartPart,
  type Iteration,
  type ReportedUsage,
  type Surcharges,
  type TokenPart,
  type TokenUsage,
  inputSum,
} from '#canonical/index.ts';
import type { Model } from '#catalogue/index.ts';
import { receiptOf, type Factor, type CostLine } from './cost.ts';
import { tokenRatesFor, type PriceRates, type Rate } from './rates.ts';

/**
 * The assumed window of a model without a known one. No public model exceeds it, so the upstream's counts are accepted
 * within reason.
 */
const unknownWindow = 10_000_000;
const unknownOutput = 1_000_000;
/** No API returns more choices at once; the request's own number is untrusted. */
const mostResponses = 128;

/**
 * Whether these numbers are plausible. `quarantined`: some of them are not counts, or they add up to more than 1.2 ×
 * (context window + longest output) of all requested choices. Such an exchange is charged its hold at most
 * (`chargeOf`), its row is marked, and the operator is alerted.
 */
export function judgeUsage(
  { tokens, implausible }: ReportedUsage,
  model: Pick<Model, 'contextWindow' | 'maxOutputTokens'>,
  choices = 1,
): 'reported' | 'quarantined' {
  const responses = choices >= 1 ? Math.min(choices, mostResponses) : 1;
  const output = (model.maxOutputTokens ?? unknownOutput) * responses;
  const window = (model.contextWindow ?? unknownWindow) + output;
  const total = inputSum(tokens) + tokens.output;
  return implausible || total * 5 > window * 6 ? 'quarantined' : 'reported';
}

/**
 * The lines of a text response, and of an image priced by tokens. Reasoning is part of the output and has no line. Tokens
 * that are not text have lines of their own where the price has parts for them. Empty for a price without token parts:
 * tokens are free there. The length of the whole prompt chooses the rates.
 */
export function tokenLines(price: PriceRates, tokens: TokenUsage): CostLine[] {
  const rates = tokenRatesFor(price, inputSum(tokens));
  if (rates === null) return [];
  const lines: CostLine[] = [];
  for (const [part, others] of countedParts) {
    let quantity = tokens[part];
    for (const other of others) if (rates[other] !== null) quantity -= tokens[other] ?? 0;
    if (quantity !== 0) lines.push({ rate: rates[part], quantity });
    for (const other of others) {
      const rate = rates[other];
      const count = tokens[other] ?? 0;
      if (rate !== null && count !== 0) lines.push({ rate, quantity: count });
    }
  }
  return lines;
}

/** What upstreams count, and the parts of a count that are not text. */
const countedParts = [
  ['input', ['inputImage', 'inputAudio']],
  ['cacheRead', ['cacheReadImage', 'cacheReadAudio']],
  ['cacheWrite', []],
  ['cacheWrite1h', []],
  ['output', ['outputImage', 'outputAudio']],
] as const satisfies readonly (readonly [part: TokenPart, others: readonly ApartPart[]])[];

/**
 * Parts that vendors charge for apart although the price has none for them: they are charged as text, and marked. The
 * price of text is usual for images that go in.
 */
const chargedApart = ['inputAudio', 'cacheReadAudio', 'outputImage', 'outputAudio'] as const;

/** Marks, at no cost, for tokens of a text response that are charged as text because the price lacks their part. */
export function unpricedLines(price: PriceRates, tokens: TokenUsage): CostLine[] {
  const rates = tokenRatesFor(price, inputSum(tokens));
  if (rates === null) return [];
  return chargedApart.flatMap((part) => {
    const quantity = tokens[part] ?? 0;
    return quantity === 0 || rates[part] !== null
      ? []
      : [{ rate: unpricedRate(tokenParts[part]), quantity }];
  });
}

/**
 * The lines of a response of several samplings, one for each part of the price: the length of each prompt chooses the
 * rates of its sampling.
 */
export function iterationLines(price: PriceRates, iterations: readonly Iteration[]): CostLine[] {
  const lines = new Map<string, CostLine>();
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
export function iterationMarks(iterations: readonly Iteration[]): CostLine[] {
  const marks =
    iterations.length > 1 ? [{ rate: markOf('iterations'), quantity: iterations.length }] : [];
  const models = Map.groupBy(
    iterations.flatMap(({ model }) => (model === undefined ? [] : [model])),
    (model) => model,
  );
  for (const [model, { length }] of models) {
    marks.push({ rate: unpricedRate(`model.${model}`), quantity: length });
  }
  return marks;
}

const factorPlaces = 18n;
const multiplierPlaces = 6n;

/**
 * The factor for token rates under these surcharges; undefined if none of them has a multiplier. Three fields can have
 * one, which is as many as a factor's 18 decimals hold.
 */
export function factorOf(
  { multipliers }: PriceRates,
  names: readonly string[],
): Factor | undefined {
  let suffix = '';
  let value = 1n;
  let places = 0n;
  for (const name of names) {
    const by = multipliers.get(name);
    if (by === undefined || places === factorPlaces) continue;
    suffix += `@${name}`;
    value *= by;
    places += multiplierPlaces;
  }
  return suffix === '' ? undefined : { suffix, value: value * 10n ** (factorPlaces - places) };
}

/**
 * The lines of a response: its tokens with the reported multipliers, and its uses with fees.
 * @param surcharges absent: none were reported
 */
export function surchargedLines(
  rates: PriceRates,
  lines: readonly CostLine[],
  surcharges: Surcharges | undefined,
): readonly CostLine[] {
  if (surcharges === undefined) return lines;
  const factor = factorOf(rates, surcharges.reported);
  const tokens = factor === undefined ? lines : lines.map((line) => ({ ...line, factor }));
  return [...tokens, ...feeLines(rates, surcharges)];
}

/** Uses with fees, and unpriced surcharges and uses at no cost, so that they are visible. */
function feeLines(
  rates: PriceRates,
  { reported, webSearches, imageTokens = 0 }: Surcharges,
): CostLine[] {
  const lines: CostLine[] = [];
  if (webSearches > 0) {
    const perSearch = rates.fees.get('web_search');
    const perPrompt = rates.fees.get('grounded_prompt');
    if (perSearch !== undefined) lines.push({ rate: perSearch, quantity: webSearches });
    if (perPrompt !== undefined) lines.push({ rate: perPrompt, quantity: 1 });
    if (lines.length === 0) lines.push({ rate: unpricedRate('web_search'), quantity: webSearches });
  }
  if (imageTokens > 0) {
    lines.push({ rate: unpricedRate('image_generation'), quantity: imageTokens });
  }
  for (const name of reported) {
    if (!rates.multipliers.has(name)) lines.push({ rate: unpricedRate(name), quantity: 1 });
  }
  return lines;
}

/** A part at no cost, so that its quantity is visible. */
function unpricedRate(name: string): Rate {
  return markOf(`unpriced.${name}`);
}

/** A line at no cost, which only informs. */
function markOf(part: string): Rate {
  return { part, perUnit: 0n, text: '0', inThousandths: false };
}

/**
 * What a token would have cost as input where a receipt's line charges it as one of a cache, in 10⁻¹⁵ USD as a decimal, with the
 * line's tier and multipliers. Null for a price without tokens.
 * @param part of the receipt's line: `cache_read`, `tiers.200000.cache_write@speed.fast`
 */
export function inputRateBeside(price: PriceRates, part: string): string | null {
  const [whole = '', ...surcharges] = part.split('@');
  const above = Number(/^tiers\.(\d+)\./.exec(whole)?.[1] ?? -1);
  const rate = tokenRatesFor(price, above + 1)?.input;
  if (rate === undefined) return null;
  const factor = factorOf(price, surcharges);
  const line = { rate, quantity: 1, ...(factor !== undefined && { factor }) };
  return receiptOf([line], 1_000_000n).items[0]?.rate ?? null;
}
