import type { ProviderName } from '#config/index.ts';
import { anthropic } from './anthropic/index.ts';
import { gemini } from './gemini/index.ts';
import { openaiCompatible } from './openai-compatible/index.ts';
import { openai } from './openai/index.ts';
import type { Provider } from './provider.ts';
import { simulator } from './simulator/index.ts';

/** Every provider there is. A channel of a provider that is not here cannot be routed to. */
const providers: readonly Provider[] = [openai, openaiCompatible, anthropic, gemini, simulator];

const byName = new Map<ProviderName, Provider>(
  providers.map((provider) => [provider.name, provider]),
);

/** Undefined for the providers of video, which nothing serves yet. */
export function findProvider(name: ProviderName): Provider | undefined {
  return byName.get(name);
}
