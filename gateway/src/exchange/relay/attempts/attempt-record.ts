import type { PricedTokens } from '#billing/index.ts';
import { saysNothing, type ReportedUsage, type TokenUsage } from '#canonical/index.ts';
import type { AttemptClass, AttemptRecord } from '#usage/index.ts';
import type { UpstreamHeaders } from '#upstream/index.ts';
import { reachOf, type AttemptOutcome } from './outcome.ts';

/** The entry that one attempt leaves in the usage row. Units of time are those of `AttemptRecord`. */
export function recordAttempt(
  outcome: AttemptOutcome,
  headers: UpstreamHeaders,
  when: Pick<AttemptRecord, 'channel' | 'startedAt' | 'durationMs'>,
): AttemptRecord {
  const unpaid = unpaidUsage(outcome);
  return {
    channel: when.channel,
    class: classOf(outcome),
    status: outcome.status,
    result: resultOf(outcome),
    startedAt: when.startedAt,
    durationMs: Math.round(when.durationMs),
    upstreamRequestId: requestIdOf(headers),
    ...(unpaid !== null && { usage: tokensOf(unpaid) }),
    ...unpaidUnits(outcome),
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

function unpaidUnits(outcome: AttemptOutcome): Pick<AttemptRecord, 'units'> {
  const isUnpaid =
    outcome.kind === 'failed' || (outcome.kind === 'broken' && outcome.isPaid !== true);
  return isUnpaid && outcome.units !== undefined ? { units: outcome.units } : {};
}

/** Of the parts of usage, rows have those of `TokenUsage`; what a protocol has apart is added to them. */
function tokensOf({ tokens }: ReportedUsage & { readonly tokens: PricedTokens }): TokenUsage {
  const { inputImage, outputImage, ...rest } = tokens;
  if (inputImage === undefined && outputImage === undefined) return rest;
  const input = rest.input + (inputImage ?? 0);
  return { ...rest, input, output: rest.output + (outputImage ?? 0) };
}

function requestIdOf(headers: UpstreamHeaders): string | null {
  const id = headers['x-request-id'] ?? headers['request-id'];
  return typeof id === 'string' ? id.slice(0, 100) : null;
}
