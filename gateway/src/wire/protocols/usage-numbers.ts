import type { ReportedUsage, TokenUsage } from '#canonical/index.ts';
import { isAbsent } from './values.ts';

/**
 * No answer of any model has so many: what names more is read as this many, and not believed. Sums of them stay exact,
 * those of a whole journal batch and of an hour in the database too.
 */
const mostTokens = 2 ** 40;

/** Reads the counts of one usage object and remembers whether any of them was not a count. */
export class UsageCounts {
  implausible = false;
  /** At least one count was present. */
  some = false;

  /**
   * Absent is 0. Negative, fractional, beyond 2^53 or no number at all is implausible and counts 0; beyond 2^40 it is implausible
   * and counts 2^40.
   */
  read(value: unknown): number {
    if (isAbsent(value)) return 0;
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) {
      this.some = true;
      if (value <= mostTokens) return value;
      this.implausible = true;
      return mostTokens;
    }
    this.implausible = true;
    return 0;
  }

  /** One count that vendors put in different places: the largest, since an unused place often holds 0. */
  readAny(...values: readonly unknown[]): number {
    let largest = 0;
    for (const value of values) largest = Math.max(largest, this.read(value));
    return largest;
  }

  /** Null when no count was there at all: then nothing was reported. */
  report(tokens: TokenUsage): ReportedUsage | null {
    return this.some || this.implausible ? { tokens, implausible: this.implausible } : null;
  }
}

/** Counts as chat and responses report them. */
export interface InclusiveCounts {
  /** Usually includes everything read from or written to a cache. */
  readonly prompt: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  /** Usually includes reasoning. */
  readonly output: number;
  readonly reasoning: number;
  /** 0 when absent. */
  readonly total: number;
}

/**
 * Makes the parts disjoint. Compatible servers differ in what their sums include; where the numbers themselves
 * show it, they are believed: a cache larger than the prompt lies outside it, reasoning larger than the output
 * or missing from a total that names it lies beside it, and what a total has beyond both is reasoning that the
 * answer does not name. Some provider reports in each of these ways.
 */
export function disjointTokens(counts: InclusiveCounts): TokenUsage {
  const { prompt, cacheRead, cacheWrite, total } = counts;
  let input = prompt;
  if (cacheRead <= input) {
    input -= cacheRead;
    if (cacheWrite <= input) input -= cacheWrite;
  }
  const beside = Math.max(0, total - prompt - counts.output);
  let { output, reasoning } = counts;
  if (reasoning > output || (reasoning > 0 && beside === reasoning)) {
    output += reasoning;
  } else if (reasoning === 0 && output > 0 && cacheRead === 0 && cacheWrite === 0) {
    reasoning = beside;
    output += beside;
  }
  return { input, cacheRead, cacheWrite, cacheWrite1h: 0, output, reasoning };
}
