import { isExactMapping, parseExactJson } from './exact-json.ts';
import type { ListedModel, Listing, Skipped } from './listed-model.ts';
import { readLitellm } from './litellm.ts';
import { readModelsDev } from './models-dev.ts';

export { ExactNumber, isExactMapping, type ExactMapping } from './exact-json.ts';
export {
  listedCount,
  listedEmbeddingPrice,
  listedPrice,
  toModelEntry,
  type ListedModel,
  type ModelEntry,
  type Skipped,
} from './listed-model.ts';
export { litellmCosts, litellmParts, perTokenToMillion } from './litellm-costs.ts';

const readers = { litellm: readLitellm, 'models.dev': readModelsDev };

export type PriceListFormat = keyof typeof readers;

export function isPriceListFormat(text: string): text is PriceListFormat {
  return Object.hasOwn(readers, text);
}

export const priceListFormats = Object.keys(readers);

export interface PriceList {
  /** Each name once, in the order of the file. */
  readonly models: readonly ListedModel[];
  readonly skipped: readonly Skipped[];
  /** Every provider in the file, whether requested or not. */
  readonly providers: readonly string[];
}

/**
 * Reads a public price list as models, with every digit as the file has it. Only models that one price can express are
 * included. `providers` empty: all; if two list the same name at different prices, the first counts.
 * @throws SyntaxError if it is not JSON, Error if it is not a price list.
 */
export function readPriceList(
  format: PriceListFormat,
  text: string,
  providers: readonly string[],
): PriceList {
  const file = parseExactJson(text);
  if (!isExactMapping(file)) throw new Error('expected a JSON object of models');
  const listings = readers[format](file);
  if (listings.length === 0) throw new Error(`no models found: is it a file of ${format}?`);
  const wantedListings = listings.filter(
    ({ provider }) => providers.length === 0 || providers.includes(provider),
  );
  return {
    ...withoutDoubles(wantedListings),
    providers: [...new Set(listings.map(({ provider }) => provider))].toSorted(),
  };
}

function withoutDoubles(listings: readonly Listing[]): Omit<PriceList, 'providers'> {
  const models = new Map<string, ListedModel>();
  const skippedModels: Skipped[] = [];
  for (const listing of listings) {
    if ('skipped' in listing) {
      skippedModels.push(listing.skipped);
      continue;
    }
    const { provider, model } = listing;
    const first = models.get(model.id);
    if (first === undefined) {
      models.set(model.id, model);
    } else if (JSON.stringify(first.price) !== JSON.stringify(model.price)) {
      const reason = 'another provider has it at another price';
      skippedModels.push({ id: model.id, provider, reason });
    }
  }
  return { models: [...models.values()], skipped: skippedModels };
}
