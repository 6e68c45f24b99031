import type { Route } from '#catalogue/index.ts';
import type { NamedState } from '#protocols/index.ts';
import { isNative, servingRoutes } from '#routing/index.ts';
import { routeQueryOf } from '../find-model.ts';
import type { ExchangeInput } from '../input.ts';
import type { CheckedRequest } from '../operation.ts';
import { judgeNames, type NameJudgement, type StateParts } from './judge-names.ts';

/** A request that may name ids of upstream state. */
export interface NamingRequest extends CheckedRequest {
  /** Null when the request names none, or nobody would get them. */
  readonly names: NameJudgement | null;
}

/**
 * Judges whether the caller may name the ids of upstream state in the request. Null when there are none. Nothing is
 * checked when no channel would get the ids.
 */
export function authorizeNames<Checked extends NamingRequest>(
  parts: StateParts,
  input: ExchangeInput,
  checked: Checked,
  named: readonly NamedState[] | undefined,
): (() => Promise<Checked>) | null {
  if (named === undefined) return null;
  return async () => {
    const { resolved } = checked;
    const routes = servingRoutes(resolved.snapshot, routeQueryOf(input, resolved));
    const native = routes.filter((route) => isNative(route, input.protocol));
    const reached = native.map(({ channel }) => channel);
    if (reached.length === 0) return checked;
    return { ...checked, names: await judgeNames(parts, input, named, reached) };
  };
}

/** Without the channels that must not get the ids of the request. */
export function withoutRefusing(
  routes: readonly Route[],
  names: NameJudgement | null,
): readonly Route[] {
  if (names === null || names.refusing.size === 0) return routes;
  return routes.filter(({ channel }) => !names.refusing.has(channel));
}
