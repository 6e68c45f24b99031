import { bearer, classifyOpenAi, openAiPath, openAiSurcharges } from '../openai/index.ts';
import type { Provider } from '../provider.ts';

/** Any server that speaks the chat-completions format: vLLM, Ollama, DeepSeek, OpenRouter, … */
export const openaiCompatible = {
  name: 'openai-compatible',
  counters: [],
  path: openAiPath,
  headers: bearer,
  classify: classifyOpenAi,
  // Whoever stands behind it may be this one.
  surcharges: openAiSurcharges,
} satisfies Provider;
