import type { Channel, Route } from '#catalogue/index.ts';
import { isMissing, type ChannelState } from './channel-state.ts';
import { chooseCredential } from './credential.ts';

/**
 * The best of the routes that no request is admitted to as usual: one that has the model, then the one with the fewest
 * ejections in a row, then the one ejected last. Null when all of them rest, or have no credential that may be used.
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

  /** The better one first. */
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
