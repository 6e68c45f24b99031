import type { TextProtocolName } from '#canonical/index.ts';
import type { Route } from '#catalogue/index.ts';
import { vendorOf } from '#vendors/index.ts';

/** A counter that may be asked. */
export interface CountRoute {
  readonly route: Route;
  /** In which its channel counts; the request is converted unless it is the client's. */
  readonly protocol: TextProtocolName;
}

/**
 * The counters among the routes: those of the client's own protocol first, since nothing is converted for
 * them, each kind in the order of the routes. A channel that answers in a protocol without counter (chat) may count in
 * another one that it speaks.
 */
export function countRoutes(routes: readonly Route[], client: TextProtocolName): CountRoute[] {
  const found = routes.flatMap((route): CountRoute[] => {
    const { protocols } = route.channel;
    const able =
      vendorOf(route.channel)?.countsTokensIn.filter((each) => protocols.includes(each)) ?? [];
    const protocol =
      able.find((each) => each === client) ??
      able.toSorted((a, b) => protocols.indexOf(a) - protocols.indexOf(b))[0];
    return protocol === undefined ? [] : [{ route, protocol }];
  });
  const isNative = ({ protocol }: CountRoute): boolean => protocol === client;
  return [...found.filter(isNative), ...found.filter((route) => !isNative(route))];
}
