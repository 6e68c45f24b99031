import type { TextProtocolName } from '#canonical/index.ts';
import type { Route } from '#catalogue/index.ts';
import { vendorOf } from '#vendors/index.ts';

/** A counter that may be asked. */
export interface CounterWay {
  readonly route: Route;
  /** In which its channel counts; the request is converted unless it is the client's. */
  readonly protocol: TextProtocolName;
}

/**
 * The counters among the ways to answer: those of the client's own protocol first, since nothing is converted for
 * them, each kind in the order of the ways. A channel that answers in a protocol without counter (chat) may count in
 * another one that it speaks.
 */
export function counterWays(routes: readonly Route[], client: TextProtocolName): CounterWay[] {
  const ways = routes.flatMap((route): CounterWay[] => {
    const { protocols } = route.channel;
    const able = vendorOf(route.channel)?.counters.filter((each) => protocols.includes(each)) ?? [];
    const protocol =
      able.find((each) => each === client) ??
      able.toSorted((a, b) => protocols.indexOf(a) - protocols.indexOf(b))[0];
    return protocol === undefined ? [] : [{ route, protocol }];
  });
  const isNative = ({ protocol }: CounterWay): boolean => protocol === client;
  return [...ways.filter(isNative), ...ways.filter((way) => !isNative(way))];
}
