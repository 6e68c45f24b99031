import type { ReportedUsage, Surcharges, TokenUsage } from '#canonical/index.ts';
import { estimateTokens } from '#protocols/index.ts';
import { noTokens } from '../exchange/measured.ts';
import { inputTokensOf, type CountedText } from './input-tokens.ts';

/** What a text exchange used, as far as anybody knows. */
export interface TextUsage {
  readonly tokens: TokenUsage;
  readonly source: 'reported' | 'estimated' | 'none';
  /** Some of the upstream's numbers were invalid. */
  readonly implausible: boolean;
  /** What else the price depends on. */
  readonly surcharges?: Surcharges;
}

/** Nothing that anybody knows of. */
const nothing: TextUsage = Object.freeze({ tokens: noTokens, source: 'none', implausible: false });

export function asReported({ tokens, implausible, surcharges }: ReportedUsage): TextUsage {
  return { tokens, source: 'reported', implausible, ...(surcharges && { surcharges }) };
}

/**
 * A complete response: what the upstream said, zero included. When it said nothing at all, the operator's policy
 * decides; null means that the response must not be given. A response without any output, such as a refused prompt, is
 * not estimated: nobody knows that it cost anything.
 * @param outputTokens an estimate; asked for only when it is needed
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

/** The reported half as reported, the missing one estimated; at least what was mentioned of it before. */
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

/** What is known of the price of a response that was left. */
export interface LeftTerms {
  /** As asked for. */
  readonly terms: readonly string[];
  /** Seen so far. */
  readonly webSearches: number;
}

/**
 * A client that left before the end of its response: the whole input, as the upstream had read it, and the output that
 * had come by then. What was reported until then may be a mere beginning (Messages announces one token of output).
 * @param outputBytes of text, reasoning and tool arguments that the upstream had sent
 */
export function usageOfLeaving(
  reported: ReportedUsage | null,
  asked: CountedText,
  outputBytes: number,
  { terms, webSearches }: LeftTerms,
): TextUsage {
  const tokens = reported?.tokens ?? noTokens;
  const told = reported?.surcharges;
  // Until a response has said on which terms it is given, they are those that were asked for.
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
