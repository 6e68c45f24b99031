import type { Route } from '#catalogue/index.ts';

/**
 * The counters that failed, and until when they are not asked again. This is separate from the health of channels: an
 * upstream that cannot count may well serve responses, and the reverse.
 */
export interface CounterRests {
  /** @param now milliseconds of a clock that never steps */
  isResting(route: Route, now: number): boolean;
  rest(route: Route, until: number): void;
}

export function createCounterRests(): CounterRests {
  const rests = new Map<string, number>();
  const keyOf = ({ channel, upstreamModel }: Route) => `${channel.id} ${upstreamModel}`;
  return {
    isResting(route, now) {
      const key = keyOf(route);
      const until = rests.get(key);
      if (until === undefined) return false;
      if (until > now) return true;
      rests.delete(key);
      return false;
    },
    rest(route, until) {
      rests.set(keyOf(route), until);
    },
  };
}
