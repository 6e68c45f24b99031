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
  inputSum,
} from '#canonical/index.ts';
import { estimateTokens, type StreamTap } from '#protocols/index.ts';
import { noSurcharges } from '#vendors/index.ts';
import { type BrokenAttempt, type DisconnectedAttempt, isError } from '../attempts/outcome.ts';
import { chargedSurcharges } from '../admission/offered-terms.ts';
import { type Measured, nothingUsed } from '../ending/record.ts';
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
export interface MeasuredTextRequest extends Pick<PreparedText, 'model' | 'bounds'> {
  readonly request: Pick<PreparedText['request'], 'choices' | 'maxOutputTokens'>;
}

/**
 * What a text exchange used, for its row and its charge. Implausible numbers of the upstream are marked as such; they
 * do not limit the charge, the hold does.
 * @param sentRequest the request whose response the client gets; null when it is not known: then only tokens are
 * charged.
 */
export function measureText(
  { tokens, source, implausible, surcharges, iterations, unread }: TextUsage,
  preparedText: MeasuredTextRequest,
  sentRequest: Pick<TextSent, 'surcharges'> | null,
): Measured {
  const { model, request } = preparedText;
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
    ...(samplings.some((each) => isBeyondRequest(each.tokens, preparedText)) && {
      isBeyondRequest: true,
    }),
    ...(unread !== undefined && { unread }),
    lines(rates) {
      const facts = sentRequest?.surcharges ?? noSurcharges;
      const chargedTerms =
        surcharges === undefined ? undefined : chargedSurcharges(surcharges, model, facts);
      const usageLines =
        iterations === undefined ? tokenLines(rates, tokens) : iterationLines(rates, iterations);
      const lines = surchargedLines(rates, usageLines, chargedTerms);
      const marks = [
        ...unpricedLines(rates, tokens),
        ...(iterations === undefined ? [] : iterationMarks(iterations)),
      ];
      return marks.length === 0 ? lines : [...lines, ...marks];
    },
  };
}

/** More output than the limit allows, or more input than there was. */
function isBeyondRequest(
  tokens: TokenUsage,
  { model, request, bounds }: MeasuredTextRequest,
): boolean {
  const limitOfEach = Math.min(
    bounds.cap ?? Infinity,
    request.maxOutputTokens ?? Infinity,
    model.maxOutputTokens ?? Infinity,
  );
  const limit = limitOfEach * request.choices;
  // Reasoning may come in addition to what the limit counts.
  const output = tokens.output - tokens.reasoning;
  return output * 5 > limit * 6 || inputSum(tokens) > bounds.mostInput;
}

/**
 * A complete response. What the upstream reported counts, zero included. If it reported nothing, the operator's policy
 * decides; null means that the client must not get the response.
 * @param outputTokens an estimate; called only if it is needed
 */
export function measureComplete(
  policy: 'estimate' | 'zero' | 'error',
  preparedText: PreparedText,
  sentRequest: SentTerms | null,
  usage: ReportedUsage | null,
  outputTokens: () => number,
): Measured | null {
  const knownUsage = withHiddenReasoning(usage, preparedText, sentRequest);
  const isWhole = knownUsage !== null && knownUsage.missingSide === undefined;
  if (!isWhole && policy === 'error') return null;
  const textUsage = isWhole
    ? asReported(knownUsage)
    : usageOfIncomplete(knownUsage, policy === 'zero', preparedText, outputTokens);
  return measureText(textUsage, preparedText, sentRequest);
}

/**
 * A client that leaves pays for what the upstream had done until then: nothing if no upstream was asked or the upstream
 * refused.
 */
export function measureDisconnected(
  {
    isSent,
    status,
    seenResponse,
  }: Pick<DisconnectedAttempt<SeenText>, 'isSent' | 'status' | 'seenResponse'>,
  preparedText: PreparedText,
  sentRequest: SentTerms | null,
): Measured {
  if (!isSent || (status !== null && isError(status))) return nothingUsed;
  const knownUsage = withHiddenReasoning(
    seenResponse?.tap.usage ?? null,
    preparedText,
    sentRequest,
  );
  const isWhole = seenResponse?.tap.finished === true;
  const textUsage =
    isWhole && knownUsage !== null && knownUsage.missingSide === undefined
      ? asReported(knownUsage)
      : usageOfLeaving(knownUsage, preparedText, seenResponse?.tap ?? nothingSeen);
  return measureText(textUsage, preparedText, sentRequest);
}

/** A client pays for what came of a broken response if the time was up, or it had kept the upstream waiting. */
export function measureBrokenText(
  { isPaid = false, usage, seenResponse }: BrokenAttempt<SeenText>,
  preparedText: PreparedText,
  sentRequest: SentTerms | null,
): Measured | null {
  if (!isPaid) return null;
  const knownUsage = withHiddenReasoning(usage, preparedText, sentRequest);
  return measureText(
    usageOfLeaving(knownUsage, preparedText, seenResponse.tap),
    preparedText,
    sentRequest,
  );
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
 * Counts reasoning that only the total of the response contains, if this upstream reports it so, and as far as the
 * output limit allows.
 */
export function withHiddenReasoning(
  reportedUsage: ReportedUsage | null,
  { request, model }: Pick<PreparedText, 'request' | 'model'>,
  sentRequest: Pick<TextSent, 'hidesReasoningInTotal'> | null,
): ReportedUsage | null {
  if (reportedUsage?.unnamed === undefined || sentRequest?.hidesReasoningInTotal !== true)
    return reportedUsage;
  const { tokens, unnamed } = reportedUsage;
  const limit = request.maxOutputTokens ?? model.maxOutputTokens ?? usualOutput;
  const room = Math.max(0, limit * request.choices - tokens.output);
  const hiddenTokens = Math.min(unnamed, room);
  const { output, reasoning } = tokens;
  return {
    ...reportedUsage,
    tokens: { ...tokens, output: output + hiddenTokens, reasoning: reasoning + hiddenTokens },
  };
}

/**
 * The usage of a complete response whose upstream reported nothing, or only a part. A response without output, such as
 * a refused prompt, is not estimated, because it may have cost nothing.
 * @param isZero what is not reported counts as nothing
 */
function usageOfIncomplete(
  reportedUsage: ReportedUsage | null,
  isZero: boolean,
  countedText: CountedText,
  outputTokens: () => number,
): TextUsage {
  if (reportedUsage !== null && !saysNothing(reportedUsage))
    return isZero
      ? asReported(reportedUsage)
      : completedUsage(reportedUsage, countedText, outputTokens);
  const marks = reportedUsage?.unread === undefined ? {} : { unread: reportedUsage.unread };
  const output = isZero ? 0 : outputTokens();
  if (output === 0) return { ...nothing, ...marks };
  const tokens = { ...noTokens, input: inputTokensOf(countedText), output };
  return { tokens, source: 'estimated', implausible: false, ...marks };
}

/** Keeps what was reported and estimates what is missing, but not below what was reported of it. */
function completedUsage(
  reportedUsage: ReportedUsage,
  countedText: CountedText,
  outputTokens: () => number,
): TextUsage {
  const tokens = withInput(reportedUsage, countedText);
  const output = lacks(reportedUsage, 'output')
    ? Math.max(tokens.output, outputTokens())
    : tokens.output;
  const { iterations: _, ...known } = asReported(reportedUsage);
  return { ...known, tokens: { ...tokens, output }, source: 'estimated' };
}

/** The reported tokens, with an estimate of the input as far as it is not reported. */
function withInput(reportedUsage: ReportedUsage, countedText: CountedText): TokenUsage {
  const { tokens } = reportedUsage;
  if (!lacks(reportedUsage, 'input')) return tokens;
  const missingTokens = Math.max(0, inputTokensOf(countedText) - inputSum(tokens));
  return missingTokens === 0 ? tokens : { ...tokens, input: tokens.input + missingTokens };
}

/** What had come of a response when its client left. */
export interface SoFar {
  /** Bytes of text, reasoning and tool arguments. */
  readonly outputBytes: number;
  /** The upstream's searches. */
  readonly webSearches: number;
}

/** For a report whose beginning says nothing of the input. */
const unreportedUsage: ReportedUsage = Object.freeze({
  tokens: noTokens,
  implausible: false,
  missingSide: 'both',
});

/**
 * The usage of a response whose client left: the whole input, because the upstream had read it, and the output until
 * then. An earlier report may cover only the beginning (Messages announces one token of output).
 */
export function usageOfLeaving(
  reportedUsage: ReportedUsage | null,
  countedText: CountedText & Pick<PreparedText, 'terms'>,
  { outputBytes, webSearches }: SoFar,
): TextUsage {
  const reportedSurcharges = reportedUsage?.surcharges;
  // As long as the response has not reported its terms, the requested ones apply.
  const surcharges = {
    reported:
      reportedSurcharges !== undefined && reportedSurcharges.reported.length > 0
        ? reportedSurcharges.reported
        : countedText.terms,
    webSearches: Math.max(reportedSurcharges?.webSearches ?? 0, webSearches),
    ...(reportedSurcharges?.imageTokens !== undefined && {
      imageTokens: reportedSurcharges.imageTokens,
    }),
  };
  const isDearer =
    surcharges.reported.length > 0 ||
    surcharges.webSearches > 0 ||
    surcharges.imageTokens !== undefined;
  const more = isDearer ? { surcharges } : {};
  const knownUsage = reportedUsage ?? unreportedUsage;
  // A count of nothing is from a beginning too.
  const isRead = inputSum(knownUsage.tokens) > 0 && !lacks(knownUsage, 'input');
  const tokens = isRead
    ? knownUsage.tokens
    : withInput({ ...knownUsage, missingSide: 'both' }, countedText);
  const output = Math.max(tokens.output, estimateTokens(outputBytes));
  const isReported = isRead && output === tokens.output && knownUsage.isDoubtful !== true;
  return {
    tokens: { ...tokens, output },
    source: isReported ? 'reported' : 'estimated',
    implausible: knownUsage.implausible,
    ...more,
    ...(isReported && knownUsage.iterations && { iterations: knownUsage.iterations }),
    ...(knownUsage.unread && { unread: knownUsage.unread }),
  };
}
