import type { CatalogueSnapshot, Channel, Route } from '#catalogue/index.ts';
import {
  findCandidates,
  isPreferred,
  type RouteQuery,
  servingRoutes,
  upstreamProtocols,
} from './candidates.ts';
import type { RefusalReason } from './channel-lease.ts';
import type { ChannelHealth } from './health.ts';

/** A route in its place. */
export interface AskedRoute {
  readonly route: Route;
  /** The upstream's protocol. */
  readonly protocol: string;
  /** Whether the request goes to it unconverted. */
  readonly isNative: boolean;
  /** Why it would be passed over at this moment; null: it would not. */
  readonly refusal: RefusalReason | null;
  /** Milliseconds until it may be tried again; 0: now. */
  readonly rest: number;
  /** The part of the requests that it gets first, of 1. */
  readonly share: number;
}

/** Why a channel is not a candidate: the first of these that holds. */
export type MissReason =
  /** It does not serve the model, under any of its names. */
  | 'model'
  /** It serves it to other groups. */
  | 'group'
  /** It speaks neither the client's protocol nor one that this converts to. */
  | 'protocol'
  /** It is for other clients. */
  | 'client';

export interface RouteExplanation {
  /** In the order in which they are asked; equal ones by weight, the heavier first. */
  readonly asked: readonly AskedRoute[];
  readonly others: readonly { readonly channel: Channel; readonly reason: MissReason }[];
  /** The channel that is asked although all are passed over; null: one is not passed over, or none may be asked at all. */
  readonly lastResort: Channel | null;
}

/** Who would be asked for a request, in which order, and why nobody else: by the functions that route requests. */
export function explainRoutes(
  snapshot: CatalogueSnapshot,
  query: RouteQuery,
  health: Pick<ChannelHealth, 'refusalOf' | 'lastResort' | 'read'>,
  now: number,
): RouteExplanation {
  const serving = servingRoutes(snapshot, query);
  const routes = serving.length === 0 ? [] : findCandidates(snapshot, query, heavierFirst);
  const refusals = new Map(routes.map((route) => [route, health.refusalOf(route, now)]));
  const first = routes.filter((route) => refusals.get(route) === null);
  const [best] = first;
  const equals = best === undefined ? [] : first.filter((route) => isEqual(route, best, query));
  const weights = equals.reduce((sum, { channel }) => sum + channel.weight, 0);
  const shareOf = (route: Route): number => {
    if (!equals.includes(route)) return 0;
    // Channels without weight are asked if there is no other.
    return weights === 0 ? 1 / equals.length : route.channel.weight / weights;
  };
  const isForAll = { ...query, userAgent: null };
  const forAll = new Set(servingRoutes(snapshot, isForAll).map(({ channel }) => channel.id));
  const asked = new Set(routes.map(({ channel }) => channel.id));
  const inGroup = servers(snapshot, query, [query.group]);
  const anywhere = servers(snapshot, query, [...snapshot.routes.keys()]);
  const reasonOf = ({ id }: Channel): MissReason => {
    if (!anywhere.has(id)) return 'model';
    if (!inGroup.has(id)) return 'group';
    return forAll.has(id) ? 'client' : 'protocol';
  };
  return {
    asked: routes.map((route) => {
      const protocol = upstreamProtocols(route, query.protocol)[0] ?? query.protocol;
      return {
        route,
        protocol,
        isNative: protocol === query.protocol,
        refusal: refusals.get(route) ?? null,
        rest: health.read(route.channel, now).rest,
        share: shareOf(route),
      };
    }),
    others: snapshot.channels
      .filter(({ id }) => !asked.has(id))
      .map((channel) => ({ channel, reason: reasonOf(channel) })),
    lastResort: best === undefined ? (health.lastResort(routes, now)?.channel ?? null) : null,
  };
}

/** In the place of chance: `u^(1/w)` grows with the weight. */
const heavierFirst = () => 0.5;

/** Whether chance decides between them. */
function isEqual(one: Route, other: Route, query: RouteQuery): boolean {
  return (
    one.channel.priority === other.channel.priority &&
    isPreferred(one, query) === isPreferred(other, query)
  );
}

/** The ids of the channels that serve the model to one of the groups. */
function servers(
  { routes }: CatalogueSnapshot,
  { servedNames }: RouteQuery,
  groups: readonly string[],
): ReadonlySet<string> {
  return new Set(
    groups.flatMap((group) =>
      servedNames.flatMap((name) =>
        (routes.get(group)?.get(name) ?? []).map(({ channel }) => channel.id),
      ),
    ),
  );
}
