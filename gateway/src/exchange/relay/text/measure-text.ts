import {
  iterationLines,
  iterationMarks,
  judgeUsage,
  surchargedLines,
  tokenLines,
  unpricedLines,
} from '#billing/index.ts';
import type { ReportedUsage, TokenUsage } from '#canonical/index.ts';
import { inputSum, type StreamTap } from '#protocols/index.ts';
import { noSurcharges } from '#vendors/index.ts';
import { isError } from '../attempts/error-body.ts';
import type { BrokenAttempt, DisconnectedAttempt } from '../attempts/outcome.ts';
import { chargedSurcharges } from '../exchange/offered-terms.ts';
import { type Measured, nothingUsed } from '../exchange/record.ts';
import type { TextSent } from './input.ts';
import type { PreparedText } from './prepared.ts';
import {
  asReported,
  type TextUsage,
  usageOfLeaving,
  usageOfResponse,
  withHiddenReasoning,
} from './usage.ts';

/** What is known of a streamed response. */
export interface SeenText {
  readonly tap: StreamTap;
}

export interface CompleteText extends SeenText {
  readonly usage: ReportedUsage | null;
  /** The bytes that the client gets once the row is durable. */
  readonly body: readonly (Buffer | string)[];
}

/** What was asked for, as far as it bounds what a response can have used. */
export interface AskedText extends Pick<PreparedText, 'model' | 'bounds'> {
  readonly request: Pick<PreparedText['request'], 'choices' | 'maxOutputTokens'>;
}

/**
 * What a text exchange used, for its row and its charge. Implausible numbers of the upstream are marked as such; they
 * do not limit the charge, the hold does.
 * @param sent the request whose response the client gets; null when it is not known: then only tokens are charged.
 */
export function measureText(
  { tokens, source, implausible, surcharges, iterations, unread }: TextUsage,
  prepared: AskedText,
  sent: Pick<TextSent, 'surcharges'> | null,
): Measured {
  const { model, request } = prepared;
  // Each sampling has the model's window for itself.
  const samplings = iterations ?? [{ tokens }];
  const isQuarantined =
    source !== 'none' &&
    samplings.some(
      (each) =>
        judgeUsage({ tokens: each.tokens, implausible }, model, request.choices) === 'quarantined',
    );
  return {
    tokens,
    source: isQuarantined ? 'quarantined' : source,
    ...(samplings.some((each) => isBeyondAsked(each.tokens, prepared)) && { isBeyondAsked: true }),
    ...(unread !== undefined && { unread }),
    lines(rates) {
      const facts = sent?.surcharges ?? noSurcharges;
      const charged =
        surcharges === undefined ? undefined : chargedSurcharges(surcharges, model, facts);
      const made =
        iterations === undefined ? tokenLines(rates, tokens) : iterationLines(rates, iterations);
      const lines = surchargedLines(rates, made, charged);
      const marks = [
        ...unpricedLines(rates, tokens),
        ...(iterations === undefined ? [] : iterationMarks(iterations)),
      ];
      return marks.length === 0 ? lines : [...lines, ...marks];
    },
  };
}

/** More output than the limit allows, or more input than there was. */
function isBeyondAsked(tokens: TokenUsage, { model, request, bounds }: AskedText): boolean {
  const limits = [bounds.cap, request.maxOutputTokens, model.maxOutputTokens].filter(
    (limit) => limit !== null,
  );
  const limit = Math.min(...limits) * request.choices;
  // Reasoning may come beside what the limit counts.
  const output = tokens.output - tokens.reasoning;
  return output * 5 > limit * 6 || inputSum(tokens) > bounds.mostInput;
}

/**
 * A complete response; null: it cannot be charged.
 * @param outputTokens an estimate; called only if it is needed
 */
export function measureComplete(
  policy: 'estimate' | 'zero' | 'error',
  prepared: PreparedText,
  sent: SentTerms | null,
  usage: ReportedUsage | null,
  outputTokens: () => number,
): Measured | null {
  const known = withHiddenReasoning(usage, prepared, sent);
  const used = usageOfResponse(known, policy, prepared, outputTokens);
  return used === null ? null : measureText(used, prepared, sent);
}

/**
 * A client that leaves pays for what the upstream had done until then: nothing if no upstream was asked or the upstream
 * refused.
 */
export function measureDisconnected(
  { asked, status, seen }: Pick<DisconnectedAttempt<SeenText>, 'asked' | 'status' | 'seen'>,
  prepared: PreparedText,
  sent: SentTerms | null,
): Measured {
  if (!asked || (status !== null && isError(status))) return nothingUsed;
  const known = withHiddenReasoning(seen?.tap.usage ?? null, prepared, sent);
  const isWhole = seen?.tap.finished === true;
  const used =
    isWhole && known !== null && known.missingSide === undefined
      ? asReported(known)
      : usageOfLeaving(known, prepared, seen?.tap ?? nothingSeen);
  return measureText(used, prepared, sent);
}

/** A client pays for what came of a broken response if the time was up, or it had kept the upstream waiting. */
export function measureBrokenText(
  { isPaid = false, usage, seen }: BrokenAttempt<SeenText>,
  prepared: PreparedText,
  sent: SentTerms | null,
): Measured | null {
  if (!isPaid) return null;
  const known = withHiddenReasoning(usage, prepared, sent);
  return measureText(usageOfLeaving(known, prepared, seen.tap), prepared, sent);
}

type SentTerms = Pick<TextSent, 'surcharges' | 'hidesReasoningInTotal'>;

const nothingSeen = Object.freeze({ outputBytes: 0, webSearches: 0 });
