import {
  saysNothing,
  type ReportedUsage,
  type TokenCounts,
  type TokenUsage,
} from '#canonical/index.ts';
import { unitsOf, type AttemptClass, type AttemptRecord, type UnitsRecord } from '#usage/index.ts';
import type { UpstreamHeaders } from '#upstream/index.ts';
import { reachOf, type AttemptOutcome } from './outcome.ts';

/** The entry that one attempt leaves in the usage row. Units of time are those of `AttemptRecord`. */
export function recordAttempt(
  outcome: AttemptOutcome,
  headers: UpstreamHeaders,
  when: Pick<AttemptRecord, 'channel' | 'startedAt' | 'durationMs'>,
): AttemptRecord {
  const unpaid = unpaidUsage(outcome);
  const units = unpaidUnits(outcome, unpaid);
  return {
    channel: when.channel,
    class: classOf(outcome),
    status: outcome.status,
    result: resultOf(outcome),
    startedAt: when.startedAt,
    durationMs: Math.round(when.durationMs),
    upstreamRequestId: requestIdOf(headers),
    ...(unpaid !== null && { usage: countsOf(unpaid.tokens) }),
    ...(units !== null && { units }),
  };
}

function classOf(outcome: AttemptOutcome): AttemptClass {
  switch (outcome.kind) {
    case 'failed':
      return outcome.class;
    case 'disconnected':
      return outcome.shown ? 'shown' : reachOf(outcome.status ?? 0, outcome.asked);
    default:
      return 'shown';
  }
}

function resultOf(outcome: AttemptOutcome): string {
  if (outcome.kind === 'complete') return 'completed';
  return outcome.kind === 'disconnected' ? (outcome.result ?? 'client-left') : outcome.result;
}

/** Usage that an upstream charges to the operator although the client got no response. */
function unpaidUsage(outcome: AttemptOutcome): ReportedUsage | null {
  if (outcome.kind === 'broken' && outcome.isPaid === true) return null;
  const usage = outcome.kind === 'failed' || outcome.kind === 'broken' ? outcome.usage : null;
  return usage === undefined || usage === null || saysNothing(usage) ? null : usage;
}

/** What such an upstream made besides, and what of its tokens is not text. */
function unpaidUnits(outcome: AttemptOutcome, unpaid: ReportedUsage | null): UnitsRecord | null {
  const isUnpaid =
    outcome.kind === 'failed' || (outcome.kind === 'broken' && outcome.isPaid !== true);
  const made = isUnpaid ? outcome.units : undefined;
  return unitsOf(made, unpaid?.tokens);
}

function countsOf(tokens: TokenUsage): TokenCounts {
  const { input, cacheRead, cacheWrite, cacheWrite1h, output, reasoning } = tokens;
  return { input, cacheRead, cacheWrite, cacheWrite1h, output, reasoning };
}

function requestIdOf(headers: UpstreamHeaders): string | null {
  const id = headers['x-request-id'] ?? headers['request-id'];
  return typeof id === 'string' ? id.slice(0, 100) : null;
}
