import { textProtocolNames, type ProtocolName, type TextProtocolName } from '#canonical/index.ts';
import type { CatalogueSnapshot, Route } from '#catalogue/index.ts';
import { GatewayError } from '#errors/index.ts';
import { vendorOf } from '#vendors/index.ts';
import { matchesUserAgent } from './user-agent.ts';

/** Which routes a request may take. */
export interface RouteQuery {
  readonly group: string;
  /** The model name as the client wrote it; errors show it. */
  readonly clientModel: string;
  /** Names under which channels may serve the model, in order of preference (an alias, then its model). */
  readonly servedNames: readonly string[];
  /** The client's. */
  readonly protocol: ProtocolName;
  /** Those that upstreams may speak, the preferred one first. Absent: the client's, or one that text converts to. */
  readonly upstreams?: readonly ProtocolName[];
  /** Null: the routes of every client. */
  readonly userAgent: string | null;
}

const textProtocols: ReadonlySet<ProtocolName> = new Set(textProtocolNames);

/**
 * The protocols to use with a route for a client, the preferred one first: the client's own alone if the route has it,
 * else, for a text client, the text protocols in which the vendor serves the model, in the vendor's order or the
 * channel's. Empty if there is none. Only text is converted.
 */
export function upstreamProtocols<Client extends ProtocolName>(
  { channel, upstreamModel }: Route,
  client: Client,
): readonly (Client | TextProtocolName)[] {
  const { protocols } = channel;
  if (!textProtocols.has(client)) return protocols.includes(client) ? [client] : [];
  const servedProtocols = vendorOf(channel)?.textProtocolsOf?.(upstreamModel);
  const common = servedProtocols?.filter((protocol) => protocols.includes(protocol)) ?? [];
  // A channel with none of them knows its model better than the vendor's table.
  const usableProtocols = common.length > 0 ? common : protocols;
  return usableProtocols.includes(client) ? [client] : usableProtocols.filter(isText);
}

/** Whether requests of the client go to the route unconverted. */
export function isNative(route: Route, client: ProtocolName): boolean {
  return upstreamProtocols(route, client)[0] === client;
}

function isText(protocol: ProtocolName): protocol is TextProtocolName {
  return textProtocols.has(protocol);
}

/**
 * The routes that could serve a request, in the order to try them: by priority, then those in the client's own
 * protocol, then by weighted chance. Health is checked at each attempt, not here.
 * @throws GatewayError `model_not_available` if nothing serves the model in this group and protocol,
 * `client_not_allowed` if only the client's type prevents it.
 */
export function findCandidates(
  snapshot: CatalogueSnapshot,
  query: RouteQuery,
  random: () => number,
): Route[] {
  const routes = servingRoutes(snapshot, query);
  if (routes.length === 0) {
    const isClosed = servingRoutes(snapshot, { ...query, userAgent: null }).length > 0;
    if (isClosed) throw new GatewayError('client_not_allowed');
    const values = { model: query.clientModel };
    throw new GatewayError('model_not_available', { values, param: 'model' });
  }
  return routes.length === 1 ? routes : order(routes, query, random);
}

/** The same routes in no particular order; empty if there are none. */
export function servingRoutes(snapshot: CatalogueSnapshot, query: RouteQuery): Route[] {
  const { servedNames, protocol, upstreams, userAgent } = query;
  const group = snapshot.routes.get(query.group);
  const routes: Route[] = [];
  for (const name of servedNames) {
    for (const route of group?.get(name) ?? []) {
      const { id, protocols, userAgents } = route.channel;
      const speaks =
        upstreams === undefined
          ? upstreamProtocols(route, protocol).length > 0
          : upstreams.some((each) => protocols.includes(each));
      if (!speaks || vendorOf(route.channel) === undefined) continue;
      const isOpen =
        userAgents.length === 0 || userAgent === null || matchesUserAgent(userAgents, userAgent);
      // A channel may serve both an alias and its model; it is tried once.
      if (isOpen && !routes.some((other) => other.channel.id === id)) routes.push(route);
    }
  }
  return routes;
}

/** Whether the route has the preferred one of the protocols that may serve the request. */
export function isPreferred(route: Route, { protocol, upstreams }: RouteQuery): boolean {
  const [first] = upstreams ?? [];
  return first === undefined ? isNative(route, protocol) : route.channel.protocols.includes(first);
}

/** Weighted order without replacement: the key `u^(1/w)` sorts as drawing one by one would (Efraimidis, Spirakis 2006). */
function order(routes: Route[], query: RouteQuery, random: () => number): Route[] {
  const keyedRoutes = routes.map((route) => ({
    route,
    priority: route.channel.priority,
    native: isPreferred(route, query) ? 1 : 0,
    key: route.channel.weight > 0 ? random() ** (1 / route.channel.weight) : 0,
  }));
  keyedRoutes.sort((a, b) => b.priority - a.priority || b.native - a.native || b.key - a.key);
  return keyedRoutes.map((entry) => entry.route);
}
