import { judgeUsage } from '#billing/index.ts';
import type { ReportedUsage } from '#canonical/index.ts';
import { estimateTokens, type EmbeddingsResponse } from '#protocols/index.ts';
import { isError } from '../attempts/error-body.ts';
import type { LeftAttempt } from '../attempts/outcome.ts';
import { noTokens, nothingUsed, type Measured } from '../exchange/measured.ts';
import { inputRate } from './bound-embed.ts';
import type { PreparedEmbed } from './prepared.ts';

type MeasuredRequest = Pick<PreparedEmbed, 'request' | 'model'>;

/**
 * What an answered request used: what its upstream reported, zero included. Without a report the operator's policy
 * decides; null means that the response must not be given. A response without vectors is not estimated: nobody knows that
 * it cost anything.
 */
export function measureEmbed(
  { usage, isEmpty }: Pick<EmbeddingsResponse, 'usage' | 'isEmpty'>,
  prepared: MeasuredRequest,
  policy: 'estimate' | 'zero' | 'error',
): Measured | null {
  if (usage !== null) return measured(usage.tokens.input, judge(usage, prepared));
  if (policy === 'error') return null;
  return policy === 'zero' || isEmpty ? nothingUsed : estimated(prepared);
}

/** Who leaves pays for the input: nothing when no upstream had been asked, or it had refused. */
export function measureLeftEmbed(
  { asked, status }: Pick<LeftAttempt, 'asked' | 'status'>,
  prepared: MeasuredRequest,
): Measured {
  if (!asked || (status !== null && isError(status))) return nothingUsed;
  return estimated(prepared);
}

function estimated({ request: { extent, inputBytes } }: MeasuredRequest): Measured {
  return measured(extent.tokens ?? estimateTokens(inputBytes), 'estimated');
}

/** Every item of the input has a window of its own. */
function judge(
  usage: ReportedUsage,
  { request, model: { contextWindow } }: MeasuredRequest,
): 'reported' | 'quarantined' {
  const windows = contextWindow === null ? null : contextWindow * request.extent.items;
  return judgeUsage(usage, { contextWindow: windows, maxOutputTokens: 0 });
}

function measured(input: number, source: Measured['source']): Measured {
  return {
    tokens: { ...noTokens, input },
    source,
    lines: (rates) => [{ rate: inputRate(rates), quantity: input }],
  };
}
