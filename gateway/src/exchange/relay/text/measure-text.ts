import { judgeUsage, surchargedLines, tokenLines } from '#billing/index.ts';
import type { ReportedUsage } from '#canonical/index.ts';
import type { Model } from '#catalogue/index.ts';
import { noSurcharges } from '#vendors/index.ts';
import { isError } from '../attempts/error-body.ts';
import type { LeftAttempt } from '../attempts/outcome.ts';
import { nothingUsed, type Measured } from '../exchange/measured.ts';
import type { PreparedText } from './prepared.ts';
import { chargedSurcharges } from './surcharges.ts';
import type { TextSent } from './text-sent.ts';
import { asReported, usageOfLeaving, type TextUsage } from './usage.ts';

/**
 * What a text exchange used, for its row and its charge. Reported numbers that cannot be true are marked: they bound
 * nothing, the hold does.
 * @param choices how many responses were asked for.
 * @param sent what was answered; null when it is not known: nothing but tokens costs anything then.
 */
export function measureText(
  { tokens, source, implausible, surcharges }: TextUsage,
  model: Model,
  choices: number,
  sent: Pick<TextSent, 'surcharges'> | null,
): Measured {
  const isQuarantined =
    source !== 'none' && judgeUsage({ tokens, implausible }, model, choices) === 'quarantined';
  return {
    tokens,
    source: isQuarantined ? 'quarantined' : source,
    lines(rates) {
      const facts = sent?.surcharges ?? noSurcharges;
      const charged =
        surcharges === undefined ? undefined : chargedSurcharges(surcharges, model, facts);
      return surchargedLines(rates, tokenLines(rates, tokens), charged);
    },
  };
}

/** What was known of a response when its client left it. */
export interface LeftResponse extends Pick<LeftAttempt, 'asked' | 'status'> {
  readonly usage: ReportedUsage | null;
  /** Bytes of text, reasoning and tool arguments that had come by then. */
  readonly outputBytes: number;
  /** Searches of the upstream's seen by then. */
  readonly webSearches: number;
  /** Its end was read nevertheless, so that `usage` is the whole response's. */
  readonly whole: boolean;
}

/** Who leaves pays for what the upstream had done by then: nothing when none had been asked, or it had refused. */
export function measureLeft(
  { asked, status, usage, whole, outputBytes, webSearches }: LeftResponse,
  prepared: PreparedText,
  sent: Pick<TextSent, 'surcharges'> | null,
): Measured {
  if (!asked || (status !== null && isError(status))) return nothingUsed;
  const { model, terms, request } = prepared;
  const used =
    whole && usage !== null && usage.missingSide === undefined
      ? asReported(usage)
      : usageOfLeaving(usage, prepared, outputBytes, { terms, webSearches });
  return measureText(used, model, request.choices, sent);
}
