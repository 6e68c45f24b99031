import type { ProviderName } from '#config/index.ts';
import { anthropicAliases, anthropicModels } from './bundled/anthropic.ts';
import { arkModels } from './bundled/ark.ts';
import { dashscopeModels } from './bundled/dashscope.ts';
import { demoModels } from './bundled/demo.ts';
import type { BundledModel } from './bundled/entry.ts';
import { geminiModels } from './bundled/gemini.ts';
import { openaiModels } from './bundled/openai.ts';

export type { BundledModel } from './bundled/entry.ts';

/** Built-in models, so that a channel with only an API key has some. */
export const bundledModels: readonly BundledModel[] = Object.freeze([
  ...openaiModels,
  ...anthropicModels,
  ...geminiModels,
  ...arkModels,
  ...dashscopeModels,
  ...demoModels,
]);

/** Alias → id of a bundled model. */
export const bundledAliases: ReadonlyMap<string, string> = new Map(
  Object.entries(anthropicAliases),
);

/** The models that a channel of this provider serves by default. */
export function bundledModelsOf(provider: ProviderName): readonly BundledModel[] {
  return bundledModels.filter((model) => model.providers.includes(provider));
}
