import { bundledAliases, bundledModels } from '#catalogue/index.ts';
import { isPattern } from '#config/pattern.ts';
import { toModelEntry, type ListedModel } from '../price-lists/index.ts';
import { compact } from '#declaration/index.ts';
import type { Draft, DraftChannel } from './draft.ts';
import type { Notes } from './notes.ts';

/**
 * The entries of a configuration file. Models outside the bundled catalogue are declared, with the other gateway's
 * price, or with the bundled price of their upstream's name.
 */
export function toFile(draftedFile: Draft, notes: Notes): Record<string, unknown> {
  const draft = withoutStars(draftedFile, notes);
  const groups = new Set(draft.channels.flatMap((channel) => channel.groups));
  groups.delete('default');
  const { key } = draft;
  return compact({
    groups: Array.from(groups, (name) => ({ name })),
    channels: draft.channels.map(toChannel),
    models: toModels(draft, notes),
    aliases: Object.fromEntries(draft.aliases),
    keys:
      key === null
        ? []
        : [compact({ name: key.name, user: 'admin@localhost', secret: key.secret })],
  });
}

/** Here, a star makes a pattern of a name; there, it is a character like any other in a plain name. */
function withoutStars(draft: Draft, notes: Notes): Draft {
  const isPlain = ({ name }: { readonly name: string }) => !isPattern(name);
  const starred = [
    ...draft.channels.flatMap(({ models }) => models.map(({ name }) => name)),
    ...draft.aliases.keys(),
  ].filter(isPattern);
  if (starred.length === 0) return draft;
  notes.warn(`names with * are left out: ${[...new Set(starred)].join(', ')}`);
  return {
    ...draft,
    channels: draft.channels
      .map((channel) => ({ ...channel, models: channel.models.filter(isPlain) }))
      .filter(({ models, patterns }) => models.length + patterns.length > 0),
    aliases: new Map([...draft.aliases].filter(([name]) => !isPattern(name))),
  };
}

function toChannel(channel: DraftChannel): object {
  const { apiKeys, groups, priority, weight } = channel;
  return compact({
    name: channel.name,
    provider: channel.provider,
    base_url: channel.baseUrl,
    api_key: apiKeys.length === 1 ? apiKeys[0] : null,
    api_keys: apiKeys.length > 1 ? apiKeys : null,
    groups: groups.length === 1 && groups[0] === 'default' ? null : groups,
    protocols: channel.protocols,
    models: [
      ...channel.models.map(({ name, upstream }) =>
        name === upstream ? name : { name, upstream },
      ),
      ...channel.patterns,
    ],
    priority: priority === 0 ? null : priority,
    weight: weight === 1 ? null : weight,
    headers: channel.headers,
    enabled: channel.enabled ? null : false,
  });
}

function toModels(draft: Draft, notes: Notes): object[] {
  const bundledById = new Map(bundledModels.map((model) => [model.id, model]));
  const unpricedModels: string[] = [];
  const find = (name: string) => bundledById.get(bundledAliases.get(name) ?? name);
  const servedModels = Map.groupBy(
    draft.channels.flatMap(({ models }) => models),
    ({ name }) => name,
  );
  const entries = Array.from(servedModels).flatMap(([name, places]) => {
    const draftedModel = draft.models.get(name) ?? null;
    const own = find(name);
    // A price of the other gateway takes precedence over the bundled one of the same name.
    if (own !== undefined && draftedModel?.price == null) return [];
    const alike = places.flatMap(({ upstream }) => find(upstream) ?? []);
    const like = own ?? alike[0];
    const price = draftedModel?.price ?? like?.price ?? null;
    if (draftedModel?.price == null && new Set(alike.map(({ id }) => id)).size > 1) {
      notes.warn(
        `model '${name}' has upstreams with different prices: the price of ${like?.id} is written`,
      );
    }
    if (price === null) unpricedModels.push(name);
    const model = {
      id: name,
      type: like?.type ?? draftedModel?.type ?? 'chat',
      contextWindow: draftedModel?.contextWindow ?? like?.contextWindow ?? null,
      maxOutputTokens: draftedModel?.maxOutputTokens ?? like?.maxOutputTokens ?? null,
      price: price ?? {},
    } satisfies ListedModel;
    return [compact({ ...toModelEntry(model), capabilities: like?.capabilities ?? null })];
  });
  if (unpricedModels.length > 0) {
    notes.warn(
      `requests for these models are refused until they have a price: ${unpricedModels.join(', ')}`,
    );
  }
  return entries;
}
