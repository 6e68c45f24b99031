import type { Surcharges } from './surcharges.ts';

/**
 * Token counts in normal form: the parts are disjoint, so a price can be applied to each and nothing is
 * counted twice. All are integers ≥ 0.
 *
 * - `input` excludes everything read from or written to a prompt cache.
 * - `output` includes `reasoning`, which is named beside it for information only.
 */
export interface TokenUsage {
  readonly input: number;
  readonly cacheRead: number;
  /** Written with the short lifetime (5 minutes), or with a lifetime the provider does not name. */
  readonly cacheWrite: number;
  /** Written with the one-hour lifetime. */
  readonly cacheWrite1h: number;
  readonly output: number;
  readonly reasoning: number;
}

/** Usage as an upstream reported it; `null` where it reported none. `implausible` marks numbers that cannot be true. */
export interface ReportedUsage {
  readonly tokens: TokenUsage;
  /** Negative, fractional or non-numeric fields were present (they count as 0 in `tokens`). */
  readonly implausible: boolean;
  /** The half of a whole response's usage that the upstream did not report: `tokens` is no evidence for it. */
  readonly missingSide?: 'input' | 'output';
  /** Absent: nothing that affects a price was reported. */
  readonly surcharges?: Surcharges;
}
