import { reasoningEfforts, type ReasoningRequest } from '#canonical/index.ts';
import type { Effort, UpstreamTraits } from '#vendors/index.ts';
import type { Losses } from './losses.ts';

/** Reasoning tokens, and the closest effort. */
const budgets: readonly { readonly upTo: number; readonly effort: Effort }[] = [
  { upTo: 512, effort: 'minimal' },
  { upTo: 1024, effort: 'low' },
  { upTo: 8192, effort: 'medium' },
  { upTo: 24_576, effort: 'high' },
  { upTo: Infinity, effort: 'xhigh' },
];

/** The effort for a model behind chat or responses. Null: none is sent, and the model keeps its default. */
export function encodeEffort(
  { mode, effort, budget }: ReasoningRequest,
  { efforts, leastEffort }: Pick<UpstreamTraits, 'efforts' | 'leastEffort'>,
  losses: Losses,
): Effort | null {
  if (mode === 'off') {
    if (leastEffort !== 'none') losses.approximated('reasoning');
    return leastEffort;
  }
  if (effort === null && budget !== null) losses.approximated('reasoning.budget');
  const wanted = effort ?? budgets.find(({ upTo }) => budget !== null && budget <= upTo)?.effort;
  if (wanted === undefined) return null;
  const sent = closestEffort(wanted, efforts);
  if (sent !== wanted) losses.approximated('reasoning.effort');
  return sent;
}

/** The next lower one that the model takes, else its least. */
function closestEffort(wanted: Effort, taken: UpstreamTraits['efforts']): Effort {
  const upTo = reasoningEfforts.slice(0, reasoningEfforts.indexOf(wanted) + 1);
  return upTo.findLast((effort) => taken.includes(effort)) ?? taken[0] ?? wanted;
}
