import { bearer, openAiPath, openAiSurcharges } from '../openai/index.ts';
import { thinkingDeepseek } from '../deepseek/models.ts';
import { thinkingKimi } from '../moonshot/models.ts';
import { joined, type SurchargeFacts } from '../surcharges.ts';
import { demandingTraits, plainTraits } from '../traits.ts';
import type { Vendor } from '../vendor.ts';
import { thinkingMimo } from '../xiaomi/models.ts';

/** Routers let a request name further models, of which any may answer. */
const routerSurcharges: SurchargeFacts = { dear: ['models.other', 'fallbacks.other'], betas: [] };

/** Models whose makers want their reasoning back. */
const demanding = [thinkingDeepseek, thinkingKimi, thinkingMimo];

/** Any server that speaks the chat-completions format: vLLM, Ollama, DeepSeek, OpenRouter, … */
export const openaiCompatible = {
  name: 'openai-compatible',
  baseUrl: null,
  versionPath: '/v1',
  protocols: ['chat', 'embeddings'],
  alsoSpeaks: ['responses', 'images'],
  environmentKey: null,
  countsTokensIn: [],
  path: openAiPath,
  headers: bearer,
  surcharges: joined(openAiSurcharges, routerSurcharges),
  // Wherever a model is served, its server may be its maker's behind another address.
  traitsOf: (model: string) =>
    demanding.some((names) => names.test(model)) ? demandingTraits : plainTraits,
  isManyVendors: true,
} satisfies Vendor;
