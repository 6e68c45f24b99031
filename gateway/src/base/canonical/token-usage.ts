import type { Surcharges } from './surcharges.ts';
import type { ApartPart } from './token-parts.ts';

/**
 * Token counts in normal form: the parts are disjoint, so a price can be applied to each and nothing is
 * counted twice. All are integers ≥ 0.
 *
 * - `input` excludes everything read from or written to a prompt cache.
 * - `output` includes `reasoning`, which is named beside it for information only.
 */
export interface TokenCounts {
  readonly input: number;
  readonly cacheRead: number;
  /** Written with the short lifetime (5 or 30 minutes), or with a lifetime the provider does not name. */
  readonly cacheWrite: number;
  /** Written with the long lifetime: one hour in messages, twelve in responses. */
  readonly cacheWrite1h: number;
  readonly output: number;
  readonly reasoning: number;
}

export const noTokens: TokenCounts = Object.freeze({
  input: 0,
  cacheRead: 0,
  cacheWrite: 0,
  cacheWrite1h: 0,
  output: 0,
  reasoning: 0,
});

/** Token counts, and what of them is not text. */
export interface TokenUsage extends TokenCounts, ApartTokens {}

/**
 * Tokens that are not text, where an upstream counts them apart. Each is a part of the count with the beginning of its
 * name: `inputAudio` of `input`, `cacheReadAudio` of `cacheRead`. Absent: none.
 */
export type ApartTokens = { readonly [Part in ApartPart]?: number };

/** Usage as an upstream reported it; `null` where it reported none. */
export interface ReportedUsage {
  readonly tokens: TokenUsage;
  /** Some counts are larger than any response's. */
  readonly implausible: boolean;
  /** What the upstream did not report, or not as counts: `tokens` has no more than a part of it. Absent: nothing. */
  readonly missingSide?: 'input' | 'output' | 'both';
  /**
   * Something else than a count was in the place of one, or an earlier report was larger, and `tokens` has that one.
   * Absent: no.
   */
  readonly isDoubtful?: boolean;
  /** What the upstream's total counts beyond all parts that it named. Absent: nothing. */
  readonly unnamed?: number;
  /** Absent: nothing that affects a price was reported. */
  readonly surcharges?: Surcharges;
  /** The samplings whose sum `tokens` is, where the upstream reports them apart. Absent: it does not. */
  readonly iterations?: readonly Iteration[];
  /** Counters that nothing reads, by the paths of their members. Absent: none. */
  readonly unread?: readonly string[];
}

/** Whether a report has nothing but counters that nothing reads. */
export function saysNothing({
  tokens,
  missingSide,
  isDoubtful,
  implausible,
}: ReportedUsage): boolean {
  return (
    missingSide === 'both' &&
    isDoubtful !== true &&
    !implausible &&
    Object.values(tokens).every((count) => count === 0)
  );
}

/** One sampling of a response that has several: between server tools, of a compaction, by another model. */
export interface Iteration {
  readonly tokens: TokenUsage;
  /** Another model than the requested one made it, by a name that a receipt can have. Absent: the requested one. */
  readonly model?: string;
}

/** Whether a side of the usage is missing, or a part of it. */
export function lacks({ missingSide }: ReportedUsage, side: 'input' | 'output'): boolean {
  return missingSide === side || missingSide === 'both';
}
