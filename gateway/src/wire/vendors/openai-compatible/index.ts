import { bearer, classifyOpenAi, openAiPath, openAiSurcharges } from '../openai/index.ts';
import type { Provider } from '../provider.ts';
import { joined, type SurchargeFacts } from '../surcharges.ts';

/** Routers let a request name further models, of which any may answer. */
const routerSurcharges: SurchargeFacts = { dear: ['models.other', 'fallbacks.other'], betas: [] };

/** Any server that speaks the chat-completions format: vLLM, Ollama, DeepSeek, OpenRouter, … */
export const openaiCompatible = {
  name: 'openai-compatible',
  counters: [],
  path: openAiPath,
  headers: bearer,
  classify: classifyOpenAi,
  surcharges: joined(openAiSurcharges, routerSurcharges),
} satisfies Provider;
