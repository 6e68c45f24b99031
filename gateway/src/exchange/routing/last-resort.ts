import type { Channel, Route } from '#catalogue/index.ts';
import { isMissing, type ChannelState } from './channel-state.ts';
import { chooseCredential } from './credential.ts';

/**
 * The best route when none is admitted as usual: one with the model, then the one with the fewest consecutive
 * ejections, then the one ejected last. Null if all are cooling down or have no usable credential.
 */
export function chooseLastResort(
  routes: readonly Route[],
  stateOf: (channel: Channel) => ChannelState,
  now: number,
): Route | null {
  let best: Route | null = null;
  for (const route of routes) {
    const state = stateOf(route.channel);
    const usable =
      state.coolUntil <= now && chooseCredential(state.credentials, 0, true, now) !== -1;
    if (usable && (best === null || compare(route, best) < 0)) best = route;
  }
  return best;

  /** Sorts the better one first. */
  function compare(one: Route, other: Route): number {
    const [a, b] = [stateOf(one.channel), stateOf(other.channel)];
    return (
      Number(isMissing(a, one.upstreamModel, now)) -
        Number(isMissing(b, other.upstreamModel, now)) ||
      a.breaker.ejections - b.breaker.ejections ||
      b.breaker.ejectedAt - a.breaker.ejectedAt
    );
  }
}
