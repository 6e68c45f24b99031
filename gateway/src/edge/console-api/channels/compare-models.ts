import type { z } from 'zod';
import {
  type CatalogueSnapshot,
  isPriced,
  resolveModel,
  type StoredChannel,
} from '#catalogue/index.ts';
import type { contract } from '../contract/index.ts';

type Compared = Pick<z.input<typeof contract.findChannelModels.response>, 'models' | 'missing'>;

/** What an upstream lists, beside what the channel serves and what the catalogue knows. */
export function compareModels(
  names: readonly string[],
  { id, models }: Pick<StoredChannel, 'id' | 'models'>,
  snapshot: CatalogueSnapshot,
): Compared {
  const channelsByModel = upstreamNames(snapshot);
  const listed = new Set(names);
  return {
    models: names.map((name) => {
      const found = resolveModel(snapshot, name);
      const price = found?.model.price ?? null;
      const channels = channelsByModel.get(name) ?? new Set();
      return {
        name,
        served_as: models.filter(({ upstream }) => upstream === name).map((model) => model.name),
        others: channels.size - (channels.has(id) ? 1 : 0),
        model: found?.id ?? null,
        priced: found !== null && isPriced(found.model),
        input: price?.input ?? null,
        output: price?.output ?? null,
      };
    }),
    missing: models
      .map(({ upstream }) => upstream)
      // A pattern stands for whatever matches.
      .filter((upstream) => names.length > 0 && !upstream.includes('*') && !listed.has(upstream)),
  };
}

/** By the name at the upstream: the ids of the enabled channels that serve it. */
function upstreamNames({ routes }: CatalogueSnapshot): ReadonlyMap<string, ReadonlySet<string>> {
  const idsByName = new Map<string, Set<string>>();
  for (const byModel of routes.values()) {
    for (const { channel, upstreamModel } of [...byModel.values()].flat()) {
      const ids = idsByName.get(upstreamModel) ?? new Set();
      idsByName.set(upstreamModel, ids.add(channel.id));
    }
  }
  return idsByName;
}
