import { noTokens, type ReportedUsage, inputSum } from '#canonical/index.ts';
import { mostInList, mostUnread, type UnknownMember } from './usage-numbers.ts';
import { isRecord } from '../values.ts';

/*
 * The guard against usage that nothing reads: counters in a report that are not zero, and that no reader knows.
 */

/** The longest path and the deepest object that are named: a name may be long, and is the upstream's. */
const longestPath = 100;
const deepest = 6;

/**
 * Adds to a report the paths of the counters that nothing reads; the same report if there are none. Where nothing was
 * read at all, the report has these paths only.
 */
export function withUnread(
  report: ReportedUsage | null,
  unknown: readonly UnknownMember[],
): ReportedUsage | null {
  const paths: string[] = [];
  for (const member of unknown) note(member, { report, paths });
  return paths.length === 0 ? report : withUnreadNames(report, paths);
}

/** A report with these names of what nothing reads. */
export function withUnreadNames(
  report: ReportedUsage | null,
  names: readonly string[],
): ReportedUsage {
  return { ...(report ?? nothing), unread: names };
}

/** A name of an upstream's, as rows have it. */
export function cleanName(name: string): string {
  return name.replaceAll(unfit, '?').slice(0, longestPath);
}

const nothing: ReportedUsage = Object.freeze({
  tokens: noTokens,
  implausible: false,
  missingSide: 'both',
});

interface Walk {
  readonly report: ReportedUsage | null;
  readonly paths: string[];
}

/** Notes the counters in a member that is not known. */
function note({ path, name, value }: UnknownMember, walk: Walk): void {
  if (walk.paths.length === mostUnread || path.split('.').length > deepest || isEcho(name)) return;
  if (typeof value === 'number') {
    if (Number.isInteger(value) && value > 0 && !isSide(value, path, name, walk.report)) {
      const clean = cleanName(path);
      if (!walk.paths.includes(clean)) walk.paths.push(clean);
    }
  } else if (Array.isArray(value)) {
    for (const each of value.slice(0, mostInList) as unknown[]) {
      if (isRecord(each)) note({ path, name, value: each }, walk);
    }
  } else if (isRecord(value)) {
    for (const [inner, each] of Object.entries(value)) {
      note({ path: `${path}.${inner}`, name: inner, value: each }, walk);
    }
  }
}

const unfit = /[^\w.$-]/g;

const wordSet = (words: string): ReadonlySet<string> => new Set(words.split(' '));

/** Words in the names of prices, times, speeds and limits. */
const echoWords = wordSet(
  'cost costs price prices usd cents credits ticks time times timestamp created latency duration ms ' +
    'per tps rate speed ratio acceptance percent percentage limit remaining max window index version',
);
const tokenWords = wordSet('token tokens');

/** Whether a name says that its value is a price, a time, a speed, a limit or a total of tokens. */
function isEcho(name: string): boolean {
  const words = wordsOf(name);
  if (words[0] === 'total' && (words.length === 1 || words.some((word) => tokenWords.has(word)))) {
    return true;
  }
  return words.some((word) => echoWords.has(word));
}

const inputWords = wordSet('prompt input');
const outputWords = wordSet('completion output generated generation candidates predicted');
const countWords = wordSet('token tokens count n num eval length');

/**
 * Whether this is one side of the usage again, under another name that says no more than that. Inside of objects that are
 * known, members divide a side.
 */
function isSide(value: number, path: string, name: string, report: ReportedUsage | null): boolean {
  if (report === null || isDivided(path)) return false;
  const words = wordsOf(name).filter((word) => !countWords.has(word));
  const isOf = (side: ReadonlySet<string>) =>
    words.length > 0 && words.every((word) => side.has(word));
  const { tokens } = report;
  const { input, cacheWrite, cacheWrite1h, output, reasoning } = tokens;
  if (isOf(inputWords)) {
    return [inputSum(tokens), input, input + cacheWrite + cacheWrite1h].includes(value);
  }
  return isOf(outputWords) && [output, output - reasoning].includes(value);
}

function isDivided(path: string): boolean {
  return /detail|cache|iterations|tool/i.test(path);
}

/** `promptTokenCount` and `prompt_token_count` have the same words. */
function wordsOf(name: string): string[] {
  return name
    .replaceAll(/([a-z\d])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z\d]+/);
}
