import type { DeclaredModel, DeclaredPrice, ProviderName } from '#config/index.ts';
import { vendorFacts } from '#vendors/index.ts';

/** When the list was last checked. Prices change: the configuration takes precedence. */
export const bundledAt = '2026-11-26';

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
  /** Tokens in, tokens out; of an embedding model, tokens of one input. */
  readonly limits?: readonly [context: number, output?: number];
  readonly can: readonly string[];
  /** Absent if not known for certain or not expressible as one price; the configuration must set it. */
  readonly price?: DeclaredPrice;
}

/** The entries of the vendor that serves them, with defaults filled in. */
export function bundle(provider: ProviderName, entries: readonly Entry[]): readonly BundledModel[] {
  return entries.map((entry) =>
    Object.freeze({
      id: entry.id,
      type: entry.type ?? 'chat',
      displayName: entry.name,
      ownedBy: vendorFacts[provider].ownedBy ?? provider,
      contextWindow: entry.limits?.[0] ?? null,
      maxOutputTokens: entry.limits?.[1] ?? null,
      capabilities: entry.can,
      echoReasoning: null,
      imageToolModel: null,
      allow: [],
      enabled: true,
      price: entry.price ?? null,
      createdAt: Date.parse(entry.released ?? bundledAt),
      providers: [provider],
    }),
  );
}

/** USD per million tokens. */
export function tokens(input: string, cacheRead: string, output: string): DeclaredPrice {
  return { input, cacheRead, output };
}
