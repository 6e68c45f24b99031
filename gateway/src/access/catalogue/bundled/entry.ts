import type { DeclaredModel, DeclaredPrice, ProviderName } from '#config/index.ts';
import { vendorFacts } from '#vendors/index.ts';
import vendorPrices from './vendor-prices.json' with { type: 'json' };

/** When the list was last checked. Prices change: the configuration takes precedence. */
export const bundledAt = vendorPrices.date;

/** A model that is known without any configuration. */
export interface BundledModel extends DeclaredModel {
  readonly displayName: string;
  readonly ownedBy: string;
  /** Unix milliseconds of the model's release, as far as known. */
  readonly createdAt: number;
  /** The providers that serve it under this name by default. */
  readonly providers: readonly ProviderName[];
}

export interface Entry {
  readonly id: string;
  readonly name: string;
  /** `YYYY-MM-DD`; absent if not known for certain: then the day on which the list was checked. */
  readonly released?: string;
  readonly type?: DeclaredModel['type'];
  /**
   * Tokens in, tokens out; of an embedding model, tokens of one input. Null: as many as the generated list says.
   */
  readonly limits?: readonly [context: number | null, output?: number];
  readonly can: readonly string[];
  /**
   * Absent: that of the generated list. If that has none either, it is not known for certain or cannot be expressed as one
   * price; the configuration must set it.
   */
  readonly price?: DeclaredPrice;
  /** What the generated list does not say of the price. */
  readonly fees?: DeclaredPrice['fees'];
}

interface Listed {
  readonly contextWindow?: number;
  readonly price: DeclaredPrice;
}

/** Of `vendor-prices.json`, which `npm run catalogue` writes. */
function listedModel(provider: ProviderName, id: string): Listed | undefined {
  const all: Readonly<Record<string, Readonly<Record<string, Listed>>>> = vendorPrices.providers;
  return all[provider]?.[id];
}

/** The entries of the vendor that serves them, with defaults filled in. */
export function bundle(provider: ProviderName, entries: readonly Entry[]): readonly BundledModel[] {
  return entries.map((entry) => {
    const listing = listedModel(provider, entry.id);
    const price = entry.price ?? listing?.price ?? null;
    return Object.freeze({
      id: entry.id,
      type: entry.type ?? 'chat',
      displayName: entry.name,
      ownedBy: vendorFacts[provider].ownedBy ?? provider,
      contextWindow: entry.limits?.[0] ?? listing?.contextWindow ?? null,
      maxOutputTokens: entry.limits?.[1] ?? null,
      capabilities: entry.can,
      echoReasoning: null,
      allow: [],
      enabled: true,
      price: price === null || entry.fees === undefined ? price : { ...price, fees: entry.fees },
      createdAt: Date.parse(entry.released ?? bundledAt),
      providers: [provider],
    });
  });
}

/** USD per million tokens. */
export function tokens(input: string, cacheRead: string, output: string): DeclaredPrice {
  return { input, cacheRead, output };
}
