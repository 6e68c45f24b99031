import type { z } from 'zod';
import { parseUsd, type OpenDatabase } from '#database/index.ts';
import { ownedTeams, wholeHours, type NameFilters, type UsageFilter } from '#usage/index.ts';
import type { Contract } from '../contract/index.ts';
import type { SignedInCaller } from '../sessions/guard.ts';

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

/** Whose requests somebody sees: their own and those of teams that they own, unless they may read all. */
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
  const { from, to, protocol, operation, outcome, status, min_cost, min_ms, asked } = query;
  return {
    ...namesIn(query),
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
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
