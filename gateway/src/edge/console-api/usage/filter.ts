import type { z } from 'zod';
import { parseUsd, type OpenDatabase } from '#database/index.ts';
import {
  areDaysWhole,
  FilterError,
  nameWords,
  ownedTeams,
  readFilterLine,
  startOfHour,
  type Bucket,
  type FilterWord,
  type NameFilters,
  type Term,
  type Test,
  type UsageFilter,
  type UsageEntry,
} from '#usage/index.ts';
import type { Contract } from '../contract/index.ts';
import { type Caller, personOf } from '../sessions/caller.ts';
import type { Reads } from '../from-database.ts';
import type { ServeOptions } from '../serve-route.ts';
import { ApiError } from '../errors.ts';

export interface UsageRoutesOptions extends ServeOptions {
  readonly database: OpenDatabase;
  readonly reads: Reads;
  /** Unix milliseconds. */
  readonly now: () => number;
}

type Query = Omit<z.output<Contract['exportUsage']['query']>, 'format'>;
type Db = OpenDatabase['kysely'];

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const defaultSpan = 30 * dayMs;
/** How many names stand for themselves. */
const usualFirst = 50;

/**
 * A range as it is asked for; 30 days that end now if nothing is. These begin with a whole hour: of a part of one no sum is
 * kept. Unix milliseconds.
 */
export function rangeOf({ from, to }: Pick<Query, 'from' | 'to'>, now: number) {
  const end = to ?? now;
  return { from: from ?? startOfHour(end - defaultSpan), to: end };
}

/**
 * The range of sums, within the years that dates can name. Exactly what is asked for, but for an end that is still to come:
 * until then the hour has nothing more, and its sum is cheaper than its requests.
 */
export function exactRange(query: Pick<Query, 'from' | 'to'>, now: number) {
  const { from, to } = rangeOf(query, now);
  const end = Math.max(to, 0);
  const isOver = end < now || end === startOfHour(end);
  return { from: Math.max(from, 0), to: isOver ? end : startOfHour(end) + hourMs };
}

/** Whose requests a person sees: their own and those of teams that they own, unless they may read all. */
export async function scopeOf(
  db: Db,
  caller: Caller,
): Promise<Pick<NameFilters, 'userId' | 'teamIds'>> {
  if (caller.permissions.includes('usage.read')) return {};
  const { id } = personOf(caller);
  return { userId: id, teamIds: await ownedTeams(db, id) };
}

/** All words and parameters of a query. @throws ApiError `invalid` with the place in the line */
export function termsOf(query: Partial<Query>, known?: readonly Term['word'][]): Term[] {
  const { filter, status, min_cost, min_ms, asked } = query;
  const terms: Term[] = [];
  const add = (word: FilterWord, test: Test) =>
    void terms.push({ word, isExcluded: false, tests: [test] });
  for (const name of [...nameWords, ...ownWords] as const) {
    const text = query[name];
    if (text === undefined) continue;
    const isBeginning = text.endsWith('*') && isName(name);
    add(name, isBeginning ? { kind: 'begins', text: text.slice(0, -1) } : { kind: 'is', text });
  }
  if (status !== undefined) {
    const first = BigInt(status.replace('xx', '00'));
    add('status', {
      kind: 'within',
      least: first,
      most: status.endsWith('xx') ? first + 99n : first,
    });
  }
  if (min_cost !== undefined) {
    add('cost', { kind: 'within', least: parseUsd(min_cost), most: null });
  }
  if (min_ms !== undefined) add('ms', { kind: 'within', least: BigInt(min_ms), most: null });
  if (asked !== undefined) add('asked', { kind: 'is', text: asked });
  return filter === undefined ? terms : [...terms, ...readLine(filter, known)];
}

function readLine(line: string, known: readonly Term['word'][] | undefined): Term[] {
  try {
    return readFilterLine(line, known);
  } catch (error) {
    if (!(error instanceof FilterError)) throw error;
    const { message } = error;
    throw new ApiError('invalid', `filter: ${message}`, { fields: [{ path: 'filter', message }] });
  }
}

const isName = (word: Term['word']): word is (typeof nameWords)[number] =>
  (nameWords as readonly string[]).includes(word);

/** Filters of sums: names. @throws ApiError `invalid` */
export function namesIn(query: Partial<Query>): NameFilters {
  return narrow(termsOf(query, nameWords));
}

/** All filters of requests, but for whose they are. @throws ApiError `invalid` */
export function filterOf(query: Query): UsageFilter {
  const { from, to } = query;
  return {
    ...narrow(termsOf(query)),
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
  };
}

const ownWords = ['protocol', 'operation', 'outcome', 'tried', 'error'] as const;

const isOwn = (word: Term['word']): word is (typeof ownWords)[number] =>
  (ownWords as readonly string[]).includes(word);

/** Filters of their own for what indexes and sums are made for; all others stay terms. */
function narrow(terms: readonly Term[]): UsageFilter {
  const filter: { -readonly [Name in keyof UsageFilter]: UsageFilter[Name] } = {};
  const beginnings: NonNullable<NameFilters['beginnings']> = {};
  const isTaken = ({ word, tests: [test, second], isExcluded }: Term): boolean => {
    if (isExcluded || test === undefined || second !== undefined) return false;
    if (isName(word)) {
      if (filter[word] !== undefined || beginnings[word] !== undefined) return false;
      if (test.kind === 'is') filter[word] = test.text;
      else if (test.kind === 'begins') beginnings[word] = test.text;
      else return false;
      return true;
    }
    if (isOwn(word)) {
      if (filter[word] !== undefined || test.kind !== 'is') return false;
      filter[word] = test.text;
      return true;
    }
    if (word === 'status' && filter.statuses === undefined && test.kind === 'within') {
      filter.statuses = [Number(test.least ?? 0), Number(test.most ?? 999)];
      return true;
    }
    return false;
  };
  const others = terms.filter((term) => !isTaken(term));
  return { ...filter, beginnings, ...(others.length > 0 && { terms: others }) };
}

/** Days within which a sum has hours, so that no response grows without bounds. */
const hourDays = 100;
/** The same of latencies: of each hour many buckets are read. */
export const latencyHourDays = 31;
const tenYears = 3_660;

/**
 * The same, and how it is cut into hours, days or months if one of the dimensions is a time.
 * @throws ApiError `invalid` for too many of them, and for days that begin within an hour
 */
export function cutsOf<Dimension extends string>(
  query: Pick<Query, 'from' | 'to'> & {
    readonly by: readonly Dimension[];
    readonly first?: number | undefined;
    readonly tz?: string | undefined;
  },
  now: number,
  mostHourDays = hourDays,
) {
  const { by, first = usualFirst, tz: timeZone = 'UTC' } = query;
  const { from, to } = exactRange(query, now);
  const hasHours = by.some((dimension) => dimension === 'hour');
  if (hasHours && to - from > mostHourDays * dayMs) {
    throw tooLong(`hours are told apart in a range of at most ${mostHourDays} days`);
  }
  const isCutInDays = by.some((dimension) => dimension === 'day' || dimension === 'month');
  if (isCutInDays && to - from > tenYears * dayMs) {
    throw tooLong('days and months are told apart in a range of at most ten years');
  }
  if (isCutInDays && !areDaysWhole(from, to, timeZone)) throw brokenHours(timeZone);
  return { from, to, by, first, timeZone };
}

/** What a range and its parts look like in responses. */
export const timesOf = ({ from, to }: { readonly from: number; readonly to: number }) => ({
  from: new Date(from).toISOString(),
  to: new Date(to).toISOString(),
});

/** Hours, days or months as responses show them. */
export const partsOf = (buckets: readonly Bucket[] | null) =>
  buckets?.map(({ name, ...range }) => ({ name, ...timesOf(range) })) ?? null;

/** A range that is too long for what is asked of it. */
export function tooLong(message: string): ApiError {
  return new ApiError('invalid', `from: ${message}`, { fields: [{ path: 'from', message }] });
}

/** A time zone whose days begin in the middle of an hour of UTC. */
function brokenHours(timeZone: string): ApiError {
  const message = `days of ${timeZone} begin in the middle of an hour of UTC, and sums have whole hours only: ask for hours, or for the days of UTC`;
  return new ApiError('invalid', `tz: ${message}`, { fields: [{ path: 'tz', message }] });
}

/** Turns the error of a cursor that no list has given out into a 400. @throws any other error */
export function asInvalid(error: unknown): never {
  if (!(error instanceof RangeError)) throw error;
  const { message } = error;
  const fields = [{ path: 'cursor', message: message.replace('cursor: ', '') }];
  throw new ApiError('invalid', message, { fields });
}

/** Lists that may be changed, as schemas infer them. */
export function rowOf<Entry extends UsageEntry>(entry: Entry) {
  const { attempts, rewrites, losses, usage_unread: unread } = entry;
  return {
    ...entry,
    attempts: [...attempts],
    rewrites: [...rewrites],
    losses: [...losses],
    usage_unread: [...unread],
  };
}
