import { saysNothing, type TokenCounts, type TokenUsage } from '#canonical/index.ts';
import { unitsOf, type AttemptClass, type AttemptRecord } from '#usage/index.ts';
import type { UpstreamHeaders } from '#upstream/index.ts';
import { reachOf, type AttemptOutcome } from './outcome.ts';

/** The entry that one attempt leaves in the usage row. Units of time are those of `AttemptRecord`. */
export function recordAttempt(
  outcome: AttemptOutcome,
  headers: UpstreamHeaders,
  when: Pick<AttemptRecord, 'channel' | 'startedAt' | 'durationMs'>,
): AttemptRecord {
  const isComplete = outcome.kind === 'complete';
  return {
    channel: when.channel,
    class: isComplete ? 'shown' : classOf(outcome),
    status: outcome.status,
    result: isComplete ? 'completed' : resultOf(outcome),
    startedAt: when.startedAt,
    durationMs: Math.round(when.durationMs),
    upstreamRequestId: requestIdOf(headers),
    ...(!isComplete && unpaidOf(outcome)),
  };
}

type Incomplete = Exclude<AttemptOutcome, { readonly kind: 'complete' }>;

function classOf(outcome: Incomplete): AttemptClass {
  if (outcome.kind === 'failed') return outcome.class;
  if (outcome.kind === 'broken' || outcome.shown) return 'shown';
  return reachOf(outcome.status ?? 0, outcome.asked);
}

function resultOf(outcome: Incomplete): string {
  return outcome.kind === 'disconnected' ? (outcome.result ?? 'client-left') : outcome.result;
}

/** What an upstream charges to the operator although the client got no response. */
function unpaidOf(outcome: Incomplete): Pick<AttemptRecord, 'usage' | 'units'> {
  const isUnpaid =
    outcome.kind === 'failed' || (outcome.kind === 'broken' && outcome.isPaid !== true);
  if (!isUnpaid) return {};
  const { usage = null, units: made } = outcome;
  const unpaid = usage === null || saysNothing(usage) ? null : usage;
  const units = unitsOf(made, unpaid?.tokens);
  return {
    ...(unpaid !== null && { usage: countsOf(unpaid.tokens) }),
    ...(units !== null && { units }),
  };
}

function countsOf(tokens: TokenUsage): TokenCounts {
  const { input, cacheRead, cacheWrite, cacheWrite1h, output, reasoning } = tokens;
  return { input, cacheRead, cacheWrite, cacheWrite1h, output, reasoning };
}

function requestIdOf(headers: UpstreamHeaders): string | null {
  const id = headers['x-request-id'] ?? headers['request-id'];
  return typeof id === 'string' ? id.slice(0, 100) : null;
}
