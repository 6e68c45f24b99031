import type {
  StoredAlias,
  StoredChannel,
  StoredGroup,
  StoredModel,
} from './catalogue.repository.ts';
import { isReferenceModel } from '#canonical/index.ts';
import { parseDecimal, scaled } from '#config/decimal.ts';
import { normalPrice } from '#config/index.ts';
import { isPattern } from '#config/pattern.ts';
import { findFacts } from '#vendors/index.ts';
import { bundledAliases, bundledModels, type BundledModel } from './bundled.ts';
import { priceVersionId } from './prices.ts';
import { expandPatterns } from './pattern-models.ts';
import type { AliasPattern, CatalogueSnapshot, Channel, Group, Model, Route } from './snapshot.ts';

const multiplierPlaces = 6;

export interface CatalogueRows {
  readonly groups: readonly StoredGroup[];
  readonly channels: readonly StoredChannel[];
  readonly models: readonly StoredModel[];
  readonly aliases: readonly StoredAlias[];
}

/** An invalid stored price: the previous value stays in force. */
export interface CatalogueProblem {
  readonly kind: 'price' | 'price_multiplier';
  /** The id of the model, or the name of the group. */
  readonly name: string;
  /** Whether there was a previous value; if not, requests are refused. */
  readonly lastGood: boolean;
}

export interface SnapshotOptions {
  readonly revision: number;
  /** The address of the simulator child process; a channel without a known address is left out. */
  readonly simulatorUrl: string | null;
  /** The snapshot in force; null before the first one. */
  readonly previous: CatalogueSnapshot | null;
  readonly onProblem: (problem: CatalogueProblem) => void;
}

/** Builds the snapshot for requests from the rows and the bundled list. */
export function buildSnapshot(rows: CatalogueRows, options: SnapshotOptions): CatalogueSnapshot {
  const { revision, simulatorUrl } = options;
  const groups = toGroups(rows.groups, options);
  const replacedNames = replacedModels(rows);
  const servedChannels = rows.channels
    .filter((row) => row.enabled)
    .flatMap((row) => {
      const baseUrl =
        row.baseUrl ?? (findFacts(row.provider)?.runsHere === true ? simulatorUrl : null);
      return baseUrl === null ? [] : [{ row, channel: toChannel(row, baseUrl) }];
    });
  const models = toModels(rows.models, replacedNames, options);
  const routes = toRoutes(servedChannels, groups, { replacedNames, models });
  const aliases = toAliases(rows.aliases, replacedNames);
  const aliasPatterns = toPatterns(rows.aliases);
  return Object.freeze({
    revision,
    groups,
    models,
    aliases,
    aliasPatterns,
    unusedModels: aliasPatterns.length === 0 ? new Set<string>() : unusedModels(rows, routes),
    channels: servedChannels.map(({ channel }) => channel),
    routes,
  });
}

function toGroups(
  rows: readonly StoredGroup[],
  { previous, onProblem }: SnapshotOptions,
): ReadonlyMap<string, Group> {
  const groups = new Map<string, Group>([['default', { name: 'default', priceMultiplier: '1' }]]);
  for (const { name, priceMultiplier, enabled } of rows) {
    if (!enabled) {
      if (name !== 'default') groups.delete(name);
    } else if (isMultiplier(priceMultiplier)) {
      groups.set(name, { name, priceMultiplier });
    } else {
      const last = previous?.groups.get(name);
      onProblem({ kind: 'price_multiplier', name, lastGood: last !== undefined });
      if (last === undefined) groups.delete(name);
      else groups.set(name, last);
    }
  }
  return groups;
}

function isMultiplier(text: string): boolean {
  const millionths = scaled(parseDecimal(text) ?? '-1', multiplierPlaces);
  return millionths !== null && millionths >= 0n;
}

/**
 * Alias → model id, if the alias replaces a model of the same name: a bundled model that nobody declared, or a disabled
 * one. A declared model keeps its name.
 */
function replacedModels({ models, aliases }: CatalogueRows): ReadonlyMap<string, string> {
  const inUse = models.filter(({ enabled, owner }) => enabled && owner !== 'system');
  const keptIds = new Set(inUse.map(({ id }) => id));
  const knownIds = new Set([...bundledModels, ...models].map(({ id }) => id));
  const replacing = aliases.filter(
    ({ enabled, name, model }) =>
      enabled && name !== model && knownIds.has(name) && knownIds.has(model) && !keptIds.has(name),
  );
  return new Map(replacing.map(({ name, model }) => [name, model]));
}

function toModels(
  rows: readonly StoredModel[],
  replacedNames: ReadonlyMap<string, string>,
  options: SnapshotOptions,
): ReadonlyMap<string, Model> {
  const bundledById = new Map(bundledModels.map((model) => [model.id, model]));
  const models = new Map<string, Model>();
  for (const model of bundledModels) {
    if (replacedNames.has(model.id)) continue;
    const price = toPrice(model.id, model.price, options);
    models.set(model.id, toModel(model, model, model.createdAt, price));
  }
  for (const row of rows) {
    if (replacedNames.has(row.id)) continue;
    const bundledModel = bundledById.get(row.id);
    const price = toPrice(row.id, row.price ?? bundledModel?.price ?? null, options);
    models.set(row.id, toModel(row, bundledModel, bundledModel?.createdAt ?? row.createdAt, price));
  }
  return models;
}

type Price = Pick<Model, 'price' | 'priceVersion'>;

const noPrice: Price = { price: null, priceVersion: null };

/** The price in force: the stored one, or the last valid one. */
function toPrice(
  id: string,
  keptPrice: Model['price'],
  { previous, onProblem }: SnapshotOptions,
): Price {
  if (keptPrice === null) return noPrice;
  const last = previous?.models.get(id) ?? noPrice;
  const price = normalPrice(keptPrice);
  if (price === null) {
    onProblem({ kind: 'price', name: id, lastGood: last.price !== null });
    return last;
  }
  const priceVersion = priceVersionId(id, price);
  return priceVersion === last.priceVersion ? last : { price, priceVersion };
}

/** Missing settings of a row come from the bundled entry of the same id. */
function toModel(
  own: Omit<StoredModel, 'owner' | 'createdAt' | 'revision' | 'updatedAt'>,
  bundledModel: BundledModel | undefined,
  createdAt: number,
  { price, priceVersion }: Price,
): Model {
  const capabilities = new Set(
    own.capabilities.length === 0 ? (bundledModel?.capabilities ?? []) : own.capabilities,
  );
  if (isReferenceModel(capabilities)) capabilities.delete('streaming');
  return Object.freeze({
    id: own.id,
    type: own.type,
    displayName: own.displayName ?? bundledModel?.displayName ?? own.id,
    ownedBy: own.ownedBy ?? bundledModel?.ownedBy ?? 'sluice',
    contextWindow: own.contextWindow ?? bundledModel?.contextWindow ?? null,
    maxOutputTokens: own.maxOutputTokens ?? bundledModel?.maxOutputTokens ?? null,
    capabilities,
    echoReasoning: own.echoReasoning ?? bundledModel?.echoReasoning ?? null,
    allow: new Set(own.allow),
    enabled: own.enabled,
    price,
    priceVersion,
    createdAt,
  });
}

function toAliases(
  rows: readonly StoredAlias[],
  replacedNames: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> {
  // A dated alias follows the name of its model.
  const aliases = new Map(
    Array.from(bundledAliases, ([name, model]) => [name, replacedNames.get(model) ?? model]),
  );
  for (const { name, model, enabled } of rows.filter((row) => !isPattern(row.name))) {
    if (enabled) aliases.set(name, model);
    else aliases.delete(name);
  }
  return aliases;
}

/** The pattern with the most literal characters first, then by name. */
function toPatterns(rows: readonly StoredAlias[]): readonly AliasPattern[] {
  return rows
    .filter(({ name, enabled }) => enabled && isPattern(name))
    .map(({ name, model }) => ({ pattern: name, model }))
    .toSorted(
      (a, b) => literals(b.pattern) - literals(a.pattern) || (a.pattern < b.pattern ? -1 : 1),
    );
}

function literals(pattern: string): number {
  return pattern.replaceAll('*', '').length;
}

/** Of the bundled models, those that no declaration, alias or channel names. */
function unusedModels(
  { models, aliases }: Pick<CatalogueRows, 'models' | 'aliases'>,
  routes: CatalogueSnapshot['routes'],
): ReadonlySet<string> {
  const unusedIds = new Set(bundledModels.map(({ id }) => id));
  for (const { id, owner } of models) if (owner !== 'system') unusedIds.delete(id);
  for (const { name, model, enabled } of aliases) {
    if (enabled && !isPattern(name)) unusedIds.delete(model);
  }
  for (const byName of routes.values()) {
    for (const name of byName.keys()) {
      unusedIds.delete(name);
      unusedIds.delete(bundledAliases.get(name) ?? name);
    }
  }
  return unusedIds;
}

function toChannel(row: StoredChannel, baseUrl: string): Channel {
  const { apiKeys, models: _models, enabled: _enabled, owner: _owner, ...rest } = row;
  // What runs here is on this machine.
  const proxy = row.baseUrl === null ? 'direct' : row.proxy;
  return Object.freeze({ ...rest, baseUrl, credentials: apiKeys, proxy });
}

function toRoutes(
  servedChannels: readonly { readonly row: StoredChannel; readonly channel: Channel }[],
  groups: ReadonlyMap<string, Group>,
  {
    replacedNames,
    models,
  }: {
    readonly replacedNames: ReadonlyMap<string, string>;
    readonly models: ReadonlyMap<string, Model>;
  },
): CatalogueSnapshot['routes'] {
  const routes = new Map<string, Map<string, Route[]>>();
  for (const name of groups.keys()) routes.set(name, new Map());
  for (const { row, channel } of servedChannels) {
    const names = expandPatterns(row, models.values());
    for (const group of channel.groups) {
      // A channel may still name a disabled group, in which nobody can use it.
      const byModel = routes.get(group);
      if (byModel === undefined) continue;
      for (const { name, upstream } of names) {
        // The name stands for the model that an alias replaced, which must not be sold as the other one.
        if (name === upstream && replacedNames.has(name)) continue;
        const list = byModel.get(name) ?? [];
        list.push(Object.freeze({ channel, upstreamModel: upstream }));
        byModel.set(name, list);
      }
    }
  }
  return routes;
}
