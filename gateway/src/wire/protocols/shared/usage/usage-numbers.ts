import { lacks, type ReportedUsage, type TokenUsage, inputSum } from '#canonical/index.ts';
import { isAbsent, isRecord, type JsonRecord } from '../values.ts';
import type { CountName, KnownMembers } from './usage-members.ts';

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

/** What was met among the counts of one side of a usage object. */
export interface UsageSide {
  /** At least one count was present. */
  some: boolean;
  /** A count was larger than any response's. */
  implausible: boolean;
  /** In the place of a count was something else: a text, a boolean, an object, a negative or a fractional number. */
  isOdd: boolean;
}

/** Null for an absent value, and for one that is not a count. A count beyond 2^40 reads as 2^40. */
export function readCount(value: unknown, side: UsageSide): number | null {
  if (isAbsent(value)) return null;
  const count = countOf(value);
  if (count === null) {
    side.isOdd = true;
    return null;
  }
  side.some = true;
  if (count <= mostTokens) return count;
  side.implausible = true;
  return mostTokens;
}

/** Of which nothing was met yet; each reading starts with a copy. */
export const emptySide: UsageSide = Object.freeze({
  some: false,
  implausible: false,
  isOdd: false,
});

/** What one usage object says. */
export interface UsageReading {
  /** Undefined: no member has that count. */
  readonly counts: Record<CountName, number | undefined>;
  readonly input: UsageSide;
  readonly output: UsageSide;
  /** Of the total, which concerns both sides. */
  readonly total: UsageSide;
  /** What no table knows, in the order of the members. */
  readonly unknown: UnknownMember[];
}

export interface UnknownMember {
  readonly path: string;
  /** The last name of the path. */
  readonly name: string;
  readonly value: unknown;
}

/** The side that each count belongs to; the total concerns both. */
const sideOf: Readonly<Record<CountName, 'input' | 'output' | 'total'>> = Object.freeze({
  total: 'total',
  prompt: 'input',
  toolPrompt: 'input',
  inputAudio: 'input',
  inputImage: 'input',
  cacheRead: 'input',
  cacheReadAudio: 'input',
  cacheReadImage: 'input',
  cacheWrite: 'input',
  cacheWriteShort: 'input',
  cacheWriteLong: 'input',
  output: 'output',
  reasoning: 'output',
  outputAudio: 'output',
  outputImage: 'output',
});

/** All counts that there are: objects of one shape are read and written faster. */
const noCounts = Object.fromEntries(
  Object.keys(sideOf).map((name) => [name, undefined]),
) as UsageReading['counts'];

/**
 * Reads all members of a usage object, each once.
 * @param around the usage that this one is a part of, with which it shares its sides
 */
export function readMembers(
  usage: JsonRecord,
  knownMembers: KnownMembers,
  around?: UsageReading,
): UsageReading {
  const reading: UsageReading = {
    counts: { ...noCounts },
    input: around?.input ?? { ...emptySide },
    output: around?.output ?? { ...emptySide },
    total: around?.total ?? { ...emptySide },
    unknown: [],
  };
  walkRecord(usage, knownMembers, '', reading, true);
  return reading;
}

/** @param isCounted false: inside of a list, whose counts only divide others */
function walkRecord(
  value: JsonRecord,
  knownMembers: KnownMembers,
  path: string,
  reading: UsageReading,
  isCounted: boolean,
): void {
  for (const name in value) {
    const member = value[name];
    const inside = knownMembers.get(name);
    if (inside === 'whole') continue;
    if (typeof inside === 'string') {
      if (!isCounted) continue;
      const count = readCount(member, reading[sideOf[inside]]);
      const earlier = reading.counts[inside];
      if (count !== null && (earlier === undefined || count > earlier)) {
        reading.counts[inside] = count;
      }
    } else if (inside !== undefined && isRecord(member)) {
      walkRecord(member, inside, `${path}${name}.`, reading, isCounted);
    } else if (inside !== undefined && Array.isArray(member)) {
      walkList(member, inside, `${path}${name}`, reading);
    } else if (typeof member === 'number' || (typeof member === 'object' && member !== null)) {
      reading.unknown.push({ path: path + name, name, value: member });
    }
  }
}

/** Objects of a list that are looked at. */
export const mostInList = 64;

/** Details by modality are lists of objects that name theirs. */
function walkList(
  list: readonly unknown[],
  knownMembers: KnownMembers,
  path: string,
  reading: UsageReading,
): void {
  for (const each of list.slice(0, mostInList)) {
    if (!isRecord(each)) continue;
    const { modality } = each;
    if (modality === undefined) walkRecord(each, knownMembers, `${path}.`, reading, false);
    else if (typeof modality === 'string' && !knownMembers.has(modality.toUpperCase())) {
      reading.unknown.push({
        path: `${path}.${modality}`,
        name: modality,
        value: each['tokenCount'],
      });
    }
  }
}

/** The sides of a usage object that are reported, by themselves or by the total. */
interface ReportedSides {
  readonly input: boolean;
  readonly output: boolean;
}

/** The report of usage with these sides; null if it reports neither. */
export function reportOf(
  tokens: TokenUsage,
  { input, output, total }: UsageReading,
  reportedSides: ReportedSides,
): ReportedUsage | null {
  const isDoubtful = input.isOdd || output.isOdd;
  const implausible = input.implausible || output.implausible || total.implausible;
  if (!reportedSides.input && !reportedSides.output && !isDoubtful && !implausible) return null;
  const missingSide = missing(!reportedSides.input, !reportedSides.output);
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
