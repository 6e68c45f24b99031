import type { ReportedUsage, TokenUsage } from '#canonical/index.ts';
import { isAbsent } from './values.ts';

/**
 * More than any response has. A larger count is read as this one and marked implausible. Sums stay exact, for a whole
 * journal batch and for an hour in the database.
 */
const mostTokens = 2 ** 40;

/** Reads the counts of one usage object, and notes whether any of them was implausible. */
export class UsageCounts {
  implausible = false;
  /** At least one count was present. */
  some = false;

  /**
   * An absent count is 0. A count that is negative, fractional, beyond 2^53 or not a number is implausible and reads as 0.
   * A count beyond 2^40 is implausible and reads as 2^40.
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

  /** One count that vendors put in different places. The largest wins, since unused places often hold 0. */
  readAny(...values: readonly unknown[]): number {
    let largest = 0;
    for (const value of values) largest = Math.max(largest, this.read(value));
    return largest;
  }

  /** Null if no count was present: nothing was reported. */
  report(tokens: TokenUsage): ReportedUsage | null {
    return this.some || this.implausible ? { tokens, implausible: this.implausible } : null;
  }
}

/** Counts as chat and responses report them. */
export interface InclusiveCounts {
  /** Usually includes what was read from or written to a cache. */
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
 * Makes the parts disjoint. Compatible servers differ in what their sums include, and the numbers show which way a
 * server counts: a cache larger than the prompt lies outside it; reasoning that is larger than the output, or that the
 * total counts in addition, lies beside it; the part of a total beyond both is unnamed reasoning. Each of these ways is
 * in use.
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
