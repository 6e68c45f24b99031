import type { ReportedUsage, Surcharges, TokenUsage } from '#canonical/index.ts';
import { estimateTokens } from '#protocols/index.ts';
import { noTokens } from '../exchange/measured.ts';
import { inputTokensOf, type CountedText } from './input-tokens.ts';

/** What a text exchange used, as far as is known. */
export interface TextUsage {
  readonly tokens: TokenUsage;
  readonly source: 'reported' | 'estimated' | 'none';
  /** Some of the upstream's numbers are implausible. */
  readonly implausible: boolean;
  /** The surcharges that apply. */
  readonly surcharges?: Surcharges;
}

/** No known usage. */
const nothing: TextUsage = Object.freeze({ tokens: noTokens, source: 'none', implausible: false });

export function asReported({ tokens, implausible, surcharges }: ReportedUsage): TextUsage {
  return { tokens, source: 'reported', implausible, ...(surcharges && { surcharges }) };
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
  if (reported !== null)
    return policy === 'zero' ? asReported(reported) : completed(reported, asked, outputTokens);
  const output = policy === 'zero' ? 0 : outputTokens();
  if (output === 0) return nothing;
  const tokens = { ...noTokens, input: inputTokensOf(asked), output };
  return { tokens, source: 'estimated', implausible: false };
}

/** Keeps the reported half and estimates the missing one, but not below what was reported earlier. */
function completed(
  reported: ReportedUsage,
  asked: CountedText,
  outputTokens: () => number,
): TextUsage {
  const { tokens, missingSide, implausible, surcharges } = reported;
  const rest = { source: 'estimated', implausible, ...(surcharges && { surcharges }) } as const;
  if (missingSide === 'input') {
    return { tokens: { ...tokens, input: inputTokensOf(asked) }, ...rest };
  }
  const output = outputTokens();
  if (output <= tokens.output) return asReported(reported);
  return { tokens: { ...tokens, output }, ...rest };
}

/** What is known about the price of a response whose client left. */
export interface DisconnectedTerms {
  /** As requested. */
  readonly terms: readonly string[];
  /** Searches seen so far. */
  readonly webSearches: number;
}

/**
 * The usage of a response whose client left: the whole input, because the upstream had read it, and the output until
 * then. An earlier report may cover only the beginning (Messages announces one token of output).
 * @param outputBytes of text, reasoning and tool arguments that the upstream had sent
 */
export function usageOfLeaving(
  reported: ReportedUsage | null,
  asked: CountedText,
  outputBytes: number,
  { terms, webSearches }: DisconnectedTerms,
): TextUsage {
  const tokens = reported?.tokens ?? noTokens;
  const told = reported?.surcharges;
  // As long as the response has not reported its terms, the requested ones apply.
  const surcharges = {
    reported: told !== undefined && told.reported.length > 0 ? told.reported : terms,
    webSearches: Math.max(told?.webSearches ?? 0, webSearches),
  };
  const more = surcharges.reported.length > 0 || surcharges.webSearches > 0 ? { surcharges } : {};
  const output = Math.max(tokens.output, estimateTokens(outputBytes));
  if (tokens.input + tokens.cacheRead + tokens.cacheWrite + tokens.cacheWrite1h > 0) {
    return {
      tokens: { ...tokens, output },
      source: output === tokens.output ? 'reported' : 'estimated',
      implausible: reported?.implausible ?? false,
      ...more,
    };
  }
  return {
    tokens: { ...tokens, input: inputTokensOf(asked), output },
    source: 'estimated',
    implausible: reported?.implausible ?? false,
    ...more,
  };
}
