import { bearer, classifyOpenAi, openAiPath, openAiSurcharges } from '../openai/index.ts';
import { joined, type SurchargeFacts } from '../surcharges.ts';
import type { Vendor } from '../vendor.ts';

/** Routers let a request name further models, of which any may answer. */
const routerSurcharges: SurchargeFacts = { dear: ['models.other', 'fallbacks.other'], betas: [] };

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
  classify: classifyOpenAi,
  surcharges: joined(openAiSurcharges, routerSurcharges),
  isManyVendors: true,
} satisfies Vendor;
