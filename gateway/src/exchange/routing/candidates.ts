import type { TextProtocolName } from '#canonical/index.ts';
import type { CatalogueSnapshot, Channel, Route } from '#catalogue/index.ts';
import { GatewayError } from '#errors/index.ts';
import { vendorOf } from '#vendors/index.ts';
import { matchesUserAgent } from './user-agent.ts';

export interface Wish {
  readonly group: string;
  /** The model name as the client wrote it; errors show it. */
  readonly clientModel: string;
  /** Names under which channels may serve the model, in order of preference (an alias, then its model). */
  readonly servedNames: readonly string[];
  readonly protocol: TextProtocolName;
  readonly userAgent: string;
}

const textProtocols: ReadonlySet<string> = new Set<TextProtocolName>([
  'chat',
  'responses',
  'messages',
  'generate-content',
]);

/**
 * The protocol to use with a channel for a client: the client's own if the channel has it, else the channel's first
 * text protocol; null if it has none.
 */
export function upstreamProtocol(
  { protocols }: Pick<Channel, 'protocols'>,
  client: TextProtocolName,
): TextProtocolName | null {
  if (protocols.includes(client)) return client;
  const other = protocols.find((protocol) => textProtocols.has(protocol));
  return other === undefined ? null : (other as TextProtocolName);
}

/**
 * The routes that could serve a request, in the order to try them: by priority, then those in the client's own
 * protocol, then by weighted chance. Health is checked at each attempt, not here.
 * @throws GatewayError `model_not_available` if nothing serves the model in this group and protocol,
 * `client_not_allowed` if only the client's type prevents it.
 */
export function findCandidates(
  snapshot: CatalogueSnapshot,
  wish: Wish,
  random: () => number,
): Route[] {
  const routes = speakingRoutes(snapshot, wish);
  if (routes.length === 0) {
    throw new GatewayError('model_not_available', {
      values: { model: wish.clientModel },
      param: 'model',
    });
  }
  const open = openTo(routes, wish);
  if (open.length === 0) throw new GatewayError('client_not_allowed');
  return open.length === 1 ? open : order(open, wish.protocol, random);
}

/** The same routes in no particular order; empty if there are none. */
export function servingRoutes(snapshot: CatalogueSnapshot, wish: Wish): readonly Route[] {
  return openTo(speakingRoutes(snapshot, wish), wish);
}

function openTo(routes: readonly Route[], { userAgent }: Wish): Route[] {
  return routes.filter((route) => matchesUserAgent(route.channel.userAgents, userAgent));
}

function speakingRoutes(snapshot: CatalogueSnapshot, wish: Wish): Route[] {
  const group = snapshot.routes.get(wish.group);
  if (group === undefined) return [];
  const found: Route[] = [];
  for (const name of wish.servedNames) {
    for (const route of group.get(name) ?? []) {
      const { channel } = route;
      const speaks =
        upstreamProtocol(channel, wish.protocol) !== null && vendorOf(channel) !== undefined;
      // A channel may serve both an alias and its model; it is tried once.
      if (speaks && !found.some((other) => other.channel.id === channel.id)) found.push(route);
    }
  }
  return found;
}

/** Weighted order without replacement: the key `u^(1/w)` sorts as drawing one by one would (Efraimidis, Spirakis 2006). */
function order(routes: Route[], client: TextProtocolName, random: () => number): Route[] {
  const keyed = routes.map((route) => ({
    route,
    priority: route.channel.priority,
    native: route.channel.protocols.includes(client) ? 1 : 0,
    key: route.channel.weight > 0 ? random() ** (1 / route.channel.weight) : 0,
  }));
  keyed.sort((a, b) => b.priority - a.priority || b.native - a.native || b.key - a.key);
  return keyed.map((entry) => entry.route);
}
