import {
  iterationLines,
  iterationMarks,
  judgeUsage,
  surchargedLines,
  tokenLines,
  unpricedLines,
  usualOutput,
} from '#billing/index.ts';
import {
  type Iteration,
  lacks,
  noTokens,
  type ReportedUsage,
  saysNothing,
  type Surcharges,
  type TokenUsage,
} from '#canonical/index.ts';
import { estimateTokens, inputSum, type StreamTap } from '#protocols/index.ts';
import { noSurcharges } from '#vendors/index.ts';
import { type BrokenAttempt, type DisconnectedAttempt, isError } from '../attempts/outcome.ts';
import { chargedSurcharges } from '../exchange/offered-terms.ts';
import { type Measured, nothingUsed } from '../exchange/record.ts';
import type { TextSent } from './input.ts';
import { type CountedText, inputTokensOf, type PreparedText } from './prepared.ts';

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

/** What a text exchange used, as far as is known. */
export interface TextUsage {
  readonly tokens: TokenUsage;
  readonly source: 'reported' | 'estimated' | 'none';
  /** Some of the upstream's numbers are implausible. */
  readonly implausible: boolean;
  /** The surcharges that apply. */
  readonly surcharges?: Surcharges;
  /** The samplings whose sum the tokens are. Absent: one, or unknown. */
  readonly iterations?: readonly Iteration[];
  /** Counters that nothing reads. Absent: none. */
  readonly unread?: readonly string[];
}

/** No known usage. */
const nothing: TextUsage = Object.freeze({ tokens: noTokens, source: 'none', implausible: false });

export function asReported({
  tokens,
  implausible,
  isDoubtful = false,
  surcharges,
  iterations,
  unread,
}: ReportedUsage): TextUsage {
  const source = isDoubtful ? 'estimated' : 'reported';
  return {
    tokens,
    source,
    implausible,
    ...(surcharges && { surcharges }),
    ...(iterations && { iterations }),
    ...(unread && { unread }),
  };
}

/**
 * Counts reasoning that only the total of the response contains, if this upstream reports it so, and as far as the output
 * limit allows.
 */
export function withHiddenReasoning(
  reported: ReportedUsage | null,
  { request, model }: Pick<PreparedText, 'request' | 'model'>,
  sent: Pick<TextSent, 'hidesReasoningInTotal'> | null,
): ReportedUsage | null {
  if (reported?.unnamed === undefined || sent?.hidesReasoningInTotal !== true) return reported;
  const { tokens, unnamed } = reported;
  const limit = request.maxOutputTokens ?? model.maxOutputTokens ?? usualOutput;
  const room = Math.max(0, limit * request.choices - tokens.output);
  const hidden = Math.min(unnamed, room);
  const { output, reasoning } = tokens;
  return {
    ...reported,
    tokens: { ...tokens, output: output + hidden, reasoning: reasoning + hidden },
  };
}

/**
 * The usage of a complete response: what the upstream reported, zero included. If it reported nothing, the operator's
 * policy decides; null means that the client must not get the response. A response without output, such as a refused
 * prompt, is not estimated, because it may have cost nothing.
 * @param outputTokens an estimate; called only if it is needed
 */
export function usageOfResponse(
  reported: ReportedUsage | null,
  policy: 'estimate' | 'zero' | 'error',
  asked: CountedText,
  outputTokens: () => number,
): TextUsage | null {
  if (reported !== null && reported.missingSide === undefined) return asReported(reported);
  if (policy === 'error') return null;
  if (reported !== null && !saysNothing(reported))
    return policy === 'zero' ? asReported(reported) : completed(reported, asked, outputTokens);
  const marks = reported?.unread === undefined ? {} : { unread: reported.unread };
  const output = policy === 'zero' ? 0 : outputTokens();
  if (output === 0) return { ...nothing, ...marks };
  const tokens = { ...noTokens, input: inputTokensOf(asked), output };
  return { tokens, source: 'estimated', implausible: false, ...marks };
}

/** Keeps what was reported and estimates what is missing, but not below what was reported of it. */
function completed(
  reported: ReportedUsage,
  asked: CountedText,
  outputTokens: () => number,
): TextUsage {
  const tokens = withInput(reported, asked);
  const output = lacks(reported, 'output')
    ? Math.max(tokens.output, outputTokens())
    : tokens.output;
  const { iterations: _, ...known } = asReported(reported);
  return { ...known, tokens: { ...tokens, output }, source: 'estimated' };
}

/** The reported tokens, with an estimate of the input as far as it is not reported. */
function withInput(reported: ReportedUsage, asked: CountedText): TokenUsage {
  const { tokens } = reported;
  if (!lacks(reported, 'input')) return tokens;
  const missing = Math.max(0, inputTokensOf(asked) - inputSum(tokens));
  return missing === 0 ? tokens : { ...tokens, input: tokens.input + missing };
}

/** What had come of a response when its client left. */
export interface SoFar {
  /** Bytes of text, reasoning and tool arguments. */
  readonly outputBytes: number;
  /** The upstream's searches. */
  readonly webSearches: number;
}

/** For a report whose beginning says nothing of the input. */
const unreported: ReportedUsage = Object.freeze({
  tokens: noTokens,
  implausible: false,
  missingSide: 'both',
});

/**
 * The usage of a response whose client left: the whole input, because the upstream had read it, and the output until
 * then. An earlier report may cover only the beginning (Messages announces one token of output).
 */
export function usageOfLeaving(
  reported: ReportedUsage | null,
  asked: CountedText & Pick<PreparedText, 'terms'>,
  { outputBytes, webSearches }: SoFar,
): TextUsage {
  const told = reported?.surcharges;
  // As long as the response has not reported its terms, the requested ones apply.
  const surcharges = {
    reported: told !== undefined && told.reported.length > 0 ? told.reported : asked.terms,
    webSearches: Math.max(told?.webSearches ?? 0, webSearches),
    ...(told?.imageTokens !== undefined && { imageTokens: told.imageTokens }),
  };
  const isDearer =
    surcharges.reported.length > 0 ||
    surcharges.webSearches > 0 ||
    surcharges.imageTokens !== undefined;
  const more = isDearer ? { surcharges } : {};
  const known = reported ?? unreported;
  // A count of nothing is from a beginning too.
  const isRead = inputSum(known.tokens) > 0 && !lacks(known, 'input');
  const tokens = isRead ? known.tokens : withInput({ ...known, missingSide: 'both' }, asked);
  const output = Math.max(tokens.output, estimateTokens(outputBytes));
  const isReported = isRead && output === tokens.output && known.isDoubtful !== true;
  return {
    tokens: { ...tokens, output },
    source: isReported ? 'reported' : 'estimated',
    implausible: known.implausible,
    ...more,
    ...(isReported && known.iterations && { iterations: known.iterations }),
    ...(known.unread && { unread: known.unread }),
  };
}
