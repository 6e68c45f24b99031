import type { ReportedUsage } from '#canonical/index.ts';
import type { Model } from '#catalogue/index.ts';
import type { PricedTokens } from './token-lines.ts';

/**
 * A model that does not say its window is given one that no public model exceeds, so that what its upstream counts
 * is believed within reason.
 */
const unknownWindow = 10_000_000;
const unknownOutput = 1_000_000;
/** More answers than this no API gives at once; what a request says is not to be trusted. */
const mostAnswers = 128;

/**
 * Are these numbers to be believed? `quarantined`: some of them were no counts at all, or they add up to more than
 * 1.2 × (context window + longest output) of all answers asked for. Such an exchange is charged its hold at most
 * (`chargeOf`), its row is marked, and the operator should hear of it.
 */
export function judgeUsage(
  { tokens, implausible }: ReportedUsage & { readonly tokens: PricedTokens },
  model: Pick<Model, 'contextWindow' | 'maxOutputTokens'>,
  choices = 1,
): 'reported' | 'quarantined' {
  const answers = choices >= 1 ? Math.min(choices, mostAnswers) : 1;
  const output = (model.maxOutputTokens ?? unknownOutput) * answers;
  const window = (model.contextWindow ?? unknownWindow) + output;
  return implausible || totalOf(tokens) * 5 > window * 6 ? 'quarantined' : 'reported';
}

/** What is charged, in nano-USD: the cost, and of numbers not to be believed no more than the hold. */
export function chargeOf(
  cost: bigint,
  held: bigint,
  source: 'reported' | 'estimated' | 'quarantined' | 'none',
): bigint {
  const isCertain = source === 'reported' || source === 'none';
  return isCertain || cost < held ? cost : held;
}

function totalOf(tokens: PricedTokens): number {
  const { input, inputImage = 0, cacheRead, cacheWrite, cacheWrite1h, output } = tokens;
  return input + inputImage + cacheRead + cacheWrite + cacheWrite1h + output;
}
