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
export { perTokenToMillion } from './litellm.ts';

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
  /** Every provider the file knows, whether asked for or not. */
  readonly providers: readonly string[];
}

/**
 * A public price list as models of ours, every digit as the file writes it. Only what one price can say is taken.
 * `providers` empty: all of them, and where two have a model of the same name at different prices the first.
 * @throws SyntaxError when it is not JSON, Error when it is no price list.
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
  const wanted = listings.filter(
    ({ provider }) => providers.length === 0 || providers.includes(provider),
  );
  return {
    ...withoutDoubles(wanted),
    providers: [...new Set(listings.map(({ provider }) => provider))].toSorted(),
  };
}

function withoutDoubles(listings: readonly Listing[]): Omit<PriceList, 'providers'> {
  const models = new Map<string, ListedModel>();
  const skipped: Skipped[] = [];
  for (const listing of listings) {
    if ('skipped' in listing) {
      skipped.push(listing.skipped);
      continue;
    }
    const { provider, model } = listing;
    const first = models.get(model.id);
    if (first === undefined) {
      models.set(model.id, model);
    } else if (JSON.stringify(first.price) !== JSON.stringify(model.price)) {
      const reason = 'another provider has it at another price';
      skipped.push({ id: model.id, provider, reason });
    }
  }
  return { models: [...models.values()], skipped };
}
