import { bundledModels } from '#catalogue/bundled.ts';
import { modelsOfPattern, type PatternModel } from '#catalogue/pattern-models.ts';
import type { Config, DeclaredPrice } from '#config/index.ts';
import { isPattern } from '#config/pattern.ts';

/** What a pattern in a channel's `models` brings. */
export interface ServedPattern {
  readonly channel: string;
  readonly pattern: string;
  readonly models: readonly string[];
  /** Those whose requests are refused because they have no price. */
  readonly unpriced: readonly string[];
}

/** Every pattern of the file's enabled channels, in the file's order. */
export function servedPatterns({ declared }: Pick<Config, 'declared'>): ServedPattern[] {
  if (declared === null) return [];
  const catalogue = new Map<string, PatternModel & { readonly price: DeclaredPrice | null }>();
  for (const model of bundledModels) {
    // An alias takes the place of a bundled model.
    if (!Object.hasOwn(declared.aliases, model.id)) catalogue.set(model.id, model);
  }
  for (const model of declared.models) {
    const price = model.price ?? catalogue.get(model.id)?.price ?? null;
    catalogue.set(model.id, { ...model, price });
  }
  return declared.channels
    .filter(({ enabled }) => enabled)
    .flatMap((channel) =>
      channel.models
        .filter(({ name }) => isPattern(name))
        .map(({ name: pattern }) => {
          const models = modelsOfPattern(pattern, channel, catalogue.values());
          const unpriced = models.filter((id) => (catalogue.get(id)?.price ?? null) === null);
          return { channel: channel.name, pattern, models, unpriced };
        }),
    );
}

/** A line for each pattern that brings nothing or models without a price. */
export function patternWarnings(patterns: readonly ServedPattern[]): string[] {
  return patterns.flatMap(({ channel, pattern, models, unpriced }) => {
    const of = `the pattern '${pattern}' of channel '${channel}'`;
    if (models.length === 0) return [`${of} matches no model that the channel can serve`];
    if (unpriced.length === 0) return [];
    return [
      `${of} matches models without a price, whose requests are refused: ${unpriced.join(', ')}`,
    ];
  });
}
