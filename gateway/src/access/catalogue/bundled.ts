import type { ProviderName } from '#config/index.ts';
import { anthropicAliases, anthropicModels } from './bundled/anthropic.ts';
import { demoModels } from './bundled/demo.ts';
import type { BundledModel } from './bundled/entry.ts';
import { geminiModels } from './bundled/gemini.ts';
import { openaiModels } from './bundled/openai.ts';

export type { BundledModel } from './bundled/entry.ts';

/** A starting list, so that a channel with nothing but an API key has models. */
export const bundledModels: readonly BundledModel[] = Object.freeze([
  ...openaiModels,
  ...anthropicModels,
  ...geminiModels,
  ...demoModels,
]);

/** Alias → id of a bundled model. */
export const bundledAliases: ReadonlyMap<string, string> = new Map(
  Object.entries(anthropicAliases),
);

/** The models a channel of this provider serves when nothing else is said. */
export function bundledModelsOf(provider: ProviderName): readonly BundledModel[] {
  return bundledModels.filter((model) => model.providers.includes(provider));
}
