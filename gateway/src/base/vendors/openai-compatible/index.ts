import { bearer, openAiPaths, openAiSurcharges } from '../openai/index.ts';
import { joinedSurcharges, type SurchargeFacts, type Vendor, type VendorFacts } from '../vendor.ts';
import { demandingTraits, plainTraits } from '../traits.ts';

/** Routers let a request name further models, of which any may answer. */
const routerSurcharges: SurchargeFacts = { dear: ['models.other', 'fallbacks.other'], betas: [] };

/** Models that think and whose makers want their reasoning back, by whatever server they are served. */
const demanding: readonly RegExp[] = [
  // DeepSeek: those from V3.2 on, and the names of its own server.
  /deepseek[-_ ]?(reasoner|chat|v3\.[2-9]|v[4-9]|v\d\d)/i,
  // Kimi: K2 Thinking, K2.5 and later, and the coding plan's name.
  /kimi-(k2-thinking|k2[.p]\d|k[3-9]|for-coding|latest)|\bk2p\d/i,
  // MiMo.
  /\bmimo-v/i,
];

/** Any server that speaks the chat-completions format: vLLM, Ollama, DeepSeek, OpenRouter, … */
export const openaiCompatible = {
  name: 'openai-compatible',
  baseUrl: null,
  versionPath: '/v1',
  protocols: ['chat', 'embeddings'],
  alsoSpeaks: ['responses', 'images'],
  environmentKey: null,
  countsTokensIn: [],
  paths: openAiPaths,
  headers: bearer,
  surcharges: joinedSurcharges(openAiSurcharges, routerSurcharges),
  // Wherever a model is served, its server may be its maker's behind another address.
  traitsOf: (model: string) =>
    demanding.some((names) => names.test(model)) ? demandingTraits : plainTraits,
  isManyVendors: true,
} satisfies Vendor;

/** A public server that speaks OpenAI's protocol. */
export type KnownServer = Pick<VendorFacts, 'name' | 'environmentKey' | 'keyBeginnings'> & {
  readonly baseUrl: string;
};

const server = (
  name: string,
  baseUrl: string,
  environmentKey: string,
  ...keyBeginnings: readonly string[]
): KnownServer => Object.freeze({ name, baseUrl, environmentKey, keyBeginnings });

/**
 * Servers of which only the address matters. A server with a quirk, or with errors that mean something else, gets a folder
 * of its own instead of a line here.
 */
export const plainServers: readonly KnownServer[] = Object.freeze([
  server('fireworks', 'https://api.fireworks.ai/inference/v1', 'FIREWORKS_API_KEY', 'fw_'),
  server('nvidia', 'https://integrate.api.nvidia.com/v1', 'NVIDIA_NIM_API_KEY', 'nvapi-'),
  server('openrouter', 'https://openrouter.ai/api/v1', 'OPENROUTER_API_KEY', 'sk-or-'),
  server('together', 'https://api.together.xyz/v1', 'TOGETHERAI_API_KEY'),
]);
