import type { z } from 'zod';
import { parseUsd, type OpenDatabase } from '#database/index.ts';
import {
  ownedTeams,
  wholeHours,
  type NameFilters,
  type UsageFilter,
  type UsageEntry,
} from '#usage/index.ts';
import type { Contract } from '../contract/index.ts';
import type { SignedInCaller } from '../sessions/guard.ts';
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
type NameQuery = Pick<Query, (typeof named)[number]>;
type Db = OpenDatabase['kysely'];

const defaultSpan = 30 * 86_400_000;

/** A range as it is asked for; 30 days that end now if nothing is. Unix milliseconds. */
export function rangeOf({ from, to }: Pick<Query, 'from' | 'to'>, now: number) {
  const end = to ?? now;
  return { from: from ?? end - defaultSpan, to: end };
}

/** The whole hours around a range, within the years that dates can name. */
export function hoursOf(query: Pick<Query, 'from' | 'to'>, now: number) {
  const { from, to } = rangeOf(query, now);
  return wholeHours({ from: Math.max(from, 0), to: Math.max(to, 0) });
}

/** Whose requests a person sees: their own and those of teams that they own, unless they may read all. */
export async function scopeOf(
  db: Db,
  { permissions, session }: SignedInCaller,
): Promise<Pick<NameFilters, 'userId' | 'teamIds'>> {
  if (permissions.includes('usage.read')) return {};
  const { id } = session.user;
  return { userId: id, teamIds: await ownedTeams(db, id) };
}

const named = ['key', 'user', 'team', 'model', 'channel', 'client'] as const;

/** Names to filter by; a trailing `*` stands for any end. */
export function namesIn(query: NameQuery) {
  const names: Partial<Record<(typeof named)[number], string>> = {};
  const beginnings: typeof names = {};
  for (const name of named) {
    const text = query[name];
    if (text === undefined) continue;
    if (text.endsWith('*')) beginnings[name] = text.slice(0, -1);
    else names[name] = text;
  }
  return { ...names, beginnings };
}

/** All filters of requests, but for whose they are. */
export function filterOf(query: Query): UsageFilter {
  const { from, to, protocol, operation, outcome, status, min_cost, min_ms, asked, tried, error } =
    query;
  return {
    ...namesIn(query),
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
    ...(tried !== undefined && { tried }),
    ...(error !== undefined && { error }),
    ...(protocol !== undefined && { protocol }),
    ...(operation !== undefined && { operation }),
    ...(outcome !== undefined && { outcome }),
    ...(status !== undefined && { statuses: statusesOf(status) }),
    ...(min_cost !== undefined && { minCost: parseUsd(min_cost) }),
    ...(min_ms !== undefined && { minDuration: min_ms }),
    ...(asked !== undefined && { isAsked: asked === 'yes' }),
  };
}

function statusesOf(text: string): readonly [number, number] {
  const first = Number(text.slice(0, 1)) * 100;
  return text.endsWith('xx') ? [first, first + 99] : [Number(text), Number(text)];
}

/** A range that is too long for what is asked of it. */
export function tooLong(message: string): ApiError {
  return new ApiError('invalid', `from: ${message}`, { fields: [{ path: 'from', message }] });
}

/** A time zone whose days begin in the middle of an hour of UTC. */
export function brokenHours(timeZone: string): ApiError {
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
