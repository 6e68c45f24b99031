import type { ReportedUsage, TokenUsage } from '#canonical/index.ts';
import type { Model } from '#catalogue/index.ts';

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
  return implausible || totalOf(tokens) * 5 > window * 6 ? 'quarantined' : 'reported';
}

/** The charge in nano-USD: the cost, but for implausible numbers no more than the hold. */
export function chargeOf(
  cost: bigint,
  held: bigint,
  source: 'reported' | 'estimated' | 'quarantined' | 'none',
): bigint {
  const isCertain = source === 'reported' || source === 'none';
  return isCertain || cost < held ? cost : held;
}

function totalOf({ input, cacheRead, cacheWrite, cacheWrite1h, output }: TokenUsage): number {
  return input + cacheRead + cacheWrite + cacheWrite1h + output;
}
