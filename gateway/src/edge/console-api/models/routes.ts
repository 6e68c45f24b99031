import type { FastifyInstance } from 'fastify';
import {
  type CatalogueSnapshot,
  isPriced,
  listModels,
  listPriceVersions,
  type Model,
  type Route,
  servedNames,
} from '#catalogue/index.ts';
import { kinds, writePrice } from '#config/index.ts';
import type { OpenDatabase } from '#database/index.ts';
import { recentHealth, type RecentHealth } from '#usage/index.ts';
import { contract, type ModelView } from '../contract/index.ts';
import { ApiError } from '../errors.ts';
import type { Reads } from '../from-database.ts';
import { serveRoute, type ServeOptions } from '../serve-route.ts';
import type { Caller } from '../sessions/caller.ts';
import { type PlaceInFile, showEntry } from '../writes.ts';
import { groupsOf } from './groups.ts';
import { shareOf } from '../health/source.ts';
import { declaredModel } from './catalogue.ts';
import { pricesOf } from './prices.ts';

export interface ModelRoutesOptions extends ServeOptions {
  readonly reads: Reads;
  readonly placeInFile: PlaceInFile;
  /** The catalogue at this moment. */
  readonly snapshot: () => CatalogueSnapshot;
  /** Unix milliseconds. */
  readonly now: () => number;
}

type Db = OpenDatabase['kysely'];

/** Price versions that a model's page shows. */
const mostVersions = 20;

/** A model that the person may use. */
interface Offer {
  readonly model: Model;
  readonly aliases: readonly string[];
  /** By group. */
  readonly routes: ReadonlyMap<string, readonly Route[]>;
}

/** The models that a person may use. */
export function modelRoutes(scope: FastifyInstance, options: ModelRoutesOptions): void {
  const { reads, snapshot, placeInFile, now } = options;
  const show = showEntry(placeInFile);

  serveRoute(scope, contract.listModels, options, ({ query: { q, all: isWhole }, caller }) =>
    reads(async (db) => {
      const offersByModel = await offersFor(db, caller);
      if (isWhole === 'true') addUnserved(offersByModel, caller);
      const all = [...offersByModel.values()];
      const offers = q === undefined ? all : all.filter((offer) => isNamed(offer, q));
      const origins = await originsOf(db);
      const health = await recentHealth(db, null, now());
      const view = (offer: Offer) => viewOf(offer, { caller, origins, health });
      return {
        body: { data: offers.map(view).toSorted((a, b) => (a.id < b.id ? -1 : 1)) },
      };
    }),
  );

  serveRoute(scope, contract.readModel, options, ({ parameters, caller }) =>
    reads(async (db) => {
      const offers = await offersFor(db, caller);
      const modelId = snapshot().aliases.get(parameters.id) ?? parameters.id;
      if (caller.permissions.includes('models.read')) addUnserved(offers, caller);
      const offer = offers.get(parameters.id) ?? offers.get(modelId);
      if (offer === undefined) throw new ApiError('not_found', 'there is no such model');
      const { model, aliases, routes } = offer;
      const declared = caller.permissions.includes('models.read')
        ? await declaredModel(db, model.id)
        : null;
      const origins = await originsOf(db);
      const health = await recentHealth(db, [model.id, ...aliases], now());
      const versions = await listPriceVersions(db, model.id, mostVersions);
      return {
        body: {
          ...viewOf(offer, { caller, origins, health }),
          settings: declared && show(kinds.model, declared),
          price: model.price && (writePrice(model.price) as Readonly<Record<string, unknown>>),
          price_version: model.priceVersion,
          history: versions.map(({ id, price, createdAt }) => ({
            version: id,
            since: new Date(createdAt).toISOString(),
            prices: pricesOf(price),
          })),
          factors: [...routes.keys()].map((name) => ({
            group: name,
            price_multiplier: snapshot().groups.get(name)?.priceMultiplier ?? '1',
          })),
          channels: caller.permissions.includes('health.read') ? channelsOf(routes) : null,
        },
        ...(declared !== null && { revision: declared.revision }),
      };
    }),
  );

  /** Adds what no channel serves, and what is disabled. @throws ApiError `forbidden` */
  function addUnserved(offers: Map<string, Offer>, { permissions }: Caller): void {
    if (!permissions.includes('models.read')) {
      throw new ApiError('forbidden', 'your role sees the models that it may use');
    }
    for (const model of snapshot().models.values()) {
      if (!offers.has(model.id)) offers.set(model.id, { model, aliases: [], routes: new Map() });
    }
  }

  /** By the model's id. */
  async function offersFor(db: Db, caller: Caller): Promise<Map<string, Offer>> {
    const catalogue = snapshot();
    const offers = new Map<string, Offer>();
    for (const group of await groupsOf(db, caller, catalogue)) {
      const servedRoutes = catalogue.routes.get(group);
      for (const { name, model } of servedNames(catalogue, group)) {
        const { aliases = [], routes = [] } = offers.get(model.id) ?? {};
        const own = servedRoutes?.get(name) ?? servedRoutes?.get(model.id) ?? [];
        offers.set(model.id, {
          model,
          aliases: name === model.id || aliases.includes(name) ? aliases : [...aliases, name],
          routes: new Map([...routes, [group, own]]),
        });
      }
    }
    return offers;
  }
}

/** Whether a name of the model contains what is searched for. */
function isNamed({ model, aliases }: Offer, searchText: string): boolean {
  const names = [model.id, model.displayName, ...aliases];
  return names.some((name) => name.toLowerCase().includes(searchText.toLowerCase()));
}

type Origins = ReadonlyMap<string, ModelView['origin']>;

/** Bundled models are not in the database, unless something else declares them too. */
async function originsOf(db: Db): Promise<Origins> {
  const storedModels = await listModels(db);
  return new Map(storedModels.map(({ id, owner }) => [id, owner === 'system' ? 'bundled' : owner]));
}

interface Surroundings {
  readonly caller: Caller;
  readonly origins: Origins;
  readonly health: ReadonlyMap<string, RecentHealth>;
}

function viewOf(
  { model, aliases, routes }: Offer,
  { caller, origins, health }: Surroundings,
): ModelView {
  const spokenProtocols = [...routes.values()].flat().flatMap(({ channel }) => channel.protocols);
  return {
    id: model.id,
    aliases: aliases.toSorted(),
    type: model.type,
    enabled: model.enabled,
    display_name: model.displayName,
    origin: origins.get(model.id) ?? 'bundled',
    protocols: [...new Set(spokenProtocols)].toSorted(),
    groups: [...routes.keys()],
    context_window: model.contextWindow,
    max_output_tokens: model.maxOutputTokens,
    capabilities: [...model.capabilities].toSorted(),
    priced: isPriced(model),
    prices: model.price === null ? [] : pricesOf(model.price),
    recent: recentOf(
      [model.id, ...aliases].flatMap((name) => health.get(name) ?? []),
      caller.permissions.includes('usage.read'),
    ),
  };
}

/** @param recentHealth under each name of the model */
function recentOf(recentHealth: readonly RecentHealth[], withCounts: boolean): ModelView['recent'] {
  const [busiest] = recentHealth.toSorted((a, b) => b.requests - a.requests);
  if (busiest === undefined) return null;
  const add = (pick: (health: RecentHealth) => number) =>
    recentHealth.reduce((total, health) => total + pick(health), 0);
  const requests = add((health) => health.requests);
  return {
    requests: withCounts ? requests : null,
    success:
      shareOf(
        requests,
        add(({ failed }) => failed),
      ) ?? 1,
    hours: busiest.hours.map((_, at) =>
      shareOf(
        add(({ hours }) => hours[at]?.requests ?? 0),
        add(({ hours }) => hours[at]?.failed ?? 0),
      ),
    ),
    first_token_ms: busiest.firstToken,
    tokens_per_second: busiest.tokensPerSecond,
    duration_ms: busiest.duration,
  };
}

function channelsOf(routes: Offer['routes']) {
  const byChannel = new Map<string, Route & { readonly groups: string[] }>();
  for (const [group, served] of routes) {
    for (const route of served) {
      const channelHealth = byChannel.get(route.channel.name);
      if (channelHealth === undefined)
        byChannel.set(route.channel.name, { ...route, groups: [group] });
      else channelHealth.groups.push(group);
    }
  }
  return [...byChannel.values()]
    .toSorted((a, b) => b.channel.priority - a.channel.priority)
    .map(({ channel, upstreamModel, groups }) => ({
      name: channel.name,
      provider: channel.provider,
      protocols: [...channel.protocols],
      upstream_model: upstreamModel,
      groups,
      priority: channel.priority,
    }));
}
