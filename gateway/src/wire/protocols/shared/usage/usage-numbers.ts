import { lacks, type ReportedUsage, type TokenUsage } from '#canonical/index.ts';
import { isAbsent } from '../values.ts';

/**
 * More than any response has. A larger count is read as this one and marked implausible. Sums stay exact, for a whole
 * journal batch and for an hour in the database.
 */
const mostTokens = 2 ** 40;

/** What a value says as a count; null if it is not one. Some servers write numbers as text. */
export function countOf(value: unknown): number | null {
  if (typeof value === 'string') return /^\d+$/.test(value) ? Number(value) : null;
  if (typeof value !== 'number' || value < 0) return null;
  // JSON has numbers beyond those of this language; they become infinite.
  return Number.isInteger(value) || value === Infinity ? value : null;
}

/** Reads the counts of one side of a usage object. */
export class UsageCounts {
  /** A count was larger than any response's. */
  implausible = false;
  /** At least one count was present. */
  some = false;
  /** In the place of a count was something else: a text, a boolean, an object, a negative or a fractional number. */
  isOdd = false;

  /** An absent count is 0, and so is a value that is not a count. A count beyond 2^40 reads as 2^40. */
  read(value: unknown): number {
    if (isAbsent(value)) return 0;
    const count = countOf(value);
    if (count === null) {
      this.isOdd = true;
      return 0;
    }
    this.some = true;
    if (count <= mostTokens) return count;
    this.implausible = true;
    return mostTokens;
  }

  /** One count that vendors put in different places. The largest wins, since unused places often hold 0. */
  readAny(...values: readonly unknown[]): number {
    let largest = 0;
    for (const value of values) largest = Math.max(largest, this.read(value));
    return largest;
  }

  /** @param isTold whether the side is reported */
  side(isTold: boolean): ReadSide {
    return { implausible: this.implausible, isOdd: this.isOdd, isTold };
  }
}

/** One side of a usage object. */
export interface ReadSide extends Pick<UsageCounts, 'implausible' | 'isOdd'> {
  /** The side is reported, by itself or by the total. */
  readonly isTold: boolean;
}

/** The report of usage with these sides; null if it reports neither. */
export function reportOf(
  tokens: TokenUsage,
  input: ReadSide,
  output: ReadSide,
): ReportedUsage | null {
  const isDoubtful = input.isOdd || output.isOdd;
  const implausible = input.implausible || output.implausible;
  if (!input.isTold && !output.isTold && !isDoubtful && !implausible) return null;
  const missingSide = missing(!input.isTold, !output.isTold);
  return {
    tokens,
    implausible,
    ...(missingSide !== null && { missingSide }),
    ...(isDoubtful && { isDoubtful }),
  };
}

function missing(input: boolean, output: boolean): 'input' | 'output' | 'both' | null {
  if (input) return output ? 'both' : 'input';
  return output ? 'output' : null;
}

/** More counters that nothing reads are not named. */
export const mostUnread = 8;

/** The most tokens of output that the beginning of a response announces, before there is any. */
const mostAnnounced = 16;

/**
 * Merges two cumulative reports of one response: of each side the larger one counts. A later report that is smaller
 * contradicts the earlier one, and the result is doubtful. The sums decide, because a later report may say of the same
 * tokens that they came from a cache.
 */
export function mergeReports(
  earlier: ReportedUsage | null,
  later: ReportedUsage | null,
): ReportedUsage | null {
  if (earlier === null || later === null) return later ?? earlier;
  const input = mergeSides(earlier, later, 'input');
  const isAnnounced = lacks(earlier, 'output') && earlier.tokens.output <= mostAnnounced;
  const output =
    isAnnounced && !input.isLess && !lacks(later, 'output')
      ? { of: later, isMissing: false, isLess: false }
      : mergeSides(earlier, later, 'output');
  const missingSide = missing(input.isMissing, output.isMissing);
  const isDoubtful = later.isDoubtful === true || input.isLess || output.isLess;
  const { missingSide: _, isDoubtful: __, unnamed: ___, iterations: ____, ...rest } = later;
  const { unnamed } = input.of === output.of ? input.of : later;
  const { iterations } = input.of === output.of ? input.of : {};
  const unread = union(earlier.unread, later.unread);
  return {
    ...rest,
    tokens: joinSides(input.of.tokens, output.of.tokens),
    implausible: earlier.implausible || later.implausible,
    ...(missingSide !== null && { missingSide }),
    ...(isDoubtful && { isDoubtful }),
    ...(unnamed !== undefined && { unnamed }),
    ...(iterations !== undefined && { iterations }),
    ...(unread !== undefined && { unread }),
  };
}

function union(
  earlier: readonly string[] | undefined,
  later: readonly string[] | undefined,
): readonly string[] | undefined {
  if (earlier === undefined || later === undefined) return later ?? earlier;
  return [...new Set([...later, ...earlier])].slice(0, mostUnread);
}

function mergeSides(earlier: ReportedUsage, later: ReportedUsage, side: 'input' | 'output') {
  const sum = side === 'input' ? inputSum : ({ output }: TokenUsage) => output;
  const isSmaller = sum(later.tokens) < sum(earlier.tokens);
  const isToldLater = !lacks(later, side);
  return {
    of: isSmaller ? earlier : later,
    isMissing: !isToldLater && lacks(earlier, side),
    isLess: isSmaller && isToldLater,
  };
}

/** All tokens that a request took, from wherever they were read. */
export function inputSum({ input, cacheRead, cacheWrite, cacheWrite1h }: TokenUsage): number {
  return input + cacheRead + cacheWrite + cacheWrite1h;
}

/** The input of the one, the output of the other. */
function joinSides(ofInput: TokenUsage, ofOutput: TokenUsage): TokenUsage {
  if (ofInput === ofOutput) return ofInput;
  const { output, reasoning, outputAudio, outputImage } = ofOutput;
  const { outputAudio: _, outputImage: __, ...input } = ofInput;
  return {
    ...input,
    output,
    reasoning,
    ...(outputAudio !== undefined && { outputAudio }),
    ...(outputImage !== undefined && { outputImage }),
  };
}

/** Counts as chat and responses report them. */
export interface InclusiveCounts {
  /** Usually includes what was read from or written to a cache. */
  readonly prompt: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  /** The part of `cacheWrite` with a long lifetime. */
  readonly cacheWriteLong: number;
  /** Usually includes reasoning. */
  readonly output: number;
  readonly reasoning: number;
  /** 0 when absent. */
  readonly total: number;
}

/**
 * Makes the parts disjoint. Compatible servers differ in what their sums include, and the numbers show which way a
 * server counts: a cache larger than the prompt lies outside it; reasoning that is larger than the output, or that the
 * total counts in addition, lies beside it. Each of these ways is in use. A total never adds tokens that no part names.
 */
export function disjointTokens(counts: InclusiveCounts): TokenUsage {
  const { prompt, cacheRead, cacheWrite, total } = counts;
  let input = prompt;
  if (cacheRead <= input) {
    input -= cacheRead;
    if (cacheWrite <= input) input -= cacheWrite;
  }
  const beside = Math.max(0, total - prompt - counts.output);
  let { output } = counts;
  const { reasoning } = counts;
  if (reasoning > output || (reasoning > 0 && beside === reasoning)) output += reasoning;
  const cacheWrite1h = Math.min(counts.cacheWriteLong, cacheWrite);
  return {
    input,
    cacheRead,
    cacheWrite: cacheWrite - cacheWrite1h,
    cacheWrite1h,
    output,
    reasoning,
  };
}

/**
 * What the total counts beyond the parts, if it may be reasoning that has no name of its own. A cache outside the prompt
 * may be in the total too.
 */
export function unnamedTokens(counts: InclusiveCounts): number {
  const { prompt, cacheRead, cacheWrite, output, reasoning, total } = counts;
  if (reasoning > 0 || output === 0 || cacheRead + cacheWrite > prompt) return 0;
  return Math.max(0, total - prompt - output);
}
