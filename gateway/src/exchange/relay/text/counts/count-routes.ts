import type { TextProtocolName } from '#canonical/index.ts';
import type { Route } from '#catalogue/index.ts';
import { vendorOf } from '#vendors/index.ts';

/** A route whose upstream can count tokens. */
export interface CountRoute {
  readonly route: Route;
  /** The protocol of the counter; the request is converted unless it is the client's. */
  readonly protocol: TextProtocolName;
}

/**
 * The routes that can count. Those of the client's own protocol come first, because nothing has to be converted for
 * them; otherwise the order stays. A channel that responds in a protocol without a counter (chat) may count in another
 * protocol that it speaks.
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
