import type { ProviderName } from '#config/index.ts';

export interface Vendor {
  readonly provider: ProviderName;
  /** Null: the provider's own; undefined: there is none, the file has to say. */
  readonly baseUrl?: string | null;
  /** The variable that LiteLLM reads when no key is given. */
  readonly variable?: string;
}

const compatible = (baseUrl: string, variable: string): Vendor => ({
  provider: 'openai-compatible',
  baseUrl,
  variable,
});

/** Prefixes of `model`, for vendors that are asked with nothing but a key. */
const vendors: Readonly<Record<string, Vendor>> = {
  openai: { provider: 'openai', baseUrl: null, variable: 'OPENAI_API_KEY' },
  anthropic: { provider: 'anthropic', baseUrl: null, variable: 'ANTHROPIC_API_KEY' },
  gemini: { provider: 'gemini', baseUrl: null, variable: 'GEMINI_API_KEY' },
  openrouter: compatible('https://openrouter.ai/api/v1', 'OPENROUTER_API_KEY'),
  deepseek: compatible('https://api.deepseek.com/v1', 'DEEPSEEK_API_KEY'),
  mistral: compatible('https://api.mistral.ai/v1', 'MISTRAL_API_KEY'),
  groq: compatible('https://api.groq.com/openai/v1', 'GROQ_API_KEY'),
  xai: compatible('https://api.x.ai/v1', 'XAI_API_KEY'),
  together_ai: compatible('https://api.together.xyz/v1', 'TOGETHERAI_API_KEY'),
  fireworks_ai: compatible('https://api.fireworks.ai/inference/v1', 'FIREWORKS_API_KEY'),
  cerebras: compatible('https://api.cerebras.ai/v1', 'CEREBRAS_API_KEY'),
  nvidia_nim: compatible('https://integrate.api.nvidia.com/v1', 'NVIDIA_NIM_API_KEY'),
  moonshot: compatible('https://api.moonshot.ai/v1', 'MOONSHOT_API_KEY'),
  hosted_vllm: { provider: 'openai-compatible' },
  openai_like: { provider: 'openai-compatible' },
  litellm_proxy: { provider: 'openai-compatible' },
  lm_studio: { provider: 'openai-compatible' },
};

/** Names without a prefix that LiteLLM knows the vendor of. */
const unprefixed: readonly (readonly [RegExp, string])[] = [
  [/^(gpt-|chatgpt-|o\d(-|$)|text-embedding-)/, 'openai'],
  [/^claude-/, 'anthropic'],
];

/** What LiteLLM reads when no key is given. */
export const vendorVariables: readonly string[] = Object.values(vendors).flatMap(
  ({ variable }) => variable ?? [],
);

interface VendorModel {
  readonly vendorName: string;
  readonly vendor: Vendor;
  /** What the vendor calls the model. */
  readonly upstream: string;
}

/** What a `model` means: `groq/llama` is `llama` of groq. Null: nobody who can be carried. */
export function vendorModelOf(model: string): VendorModel | null {
  const prefix = prefixOf(model);
  const isPrefixed = prefix !== null && Object.hasOwn(vendors, prefix);
  const vendorName = isPrefixed ? prefix : unprefixed.find(([pattern]) => pattern.test(model))?.[1];
  const vendor = vendorName === undefined ? undefined : vendors[vendorName];
  if (vendorName === undefined || vendor === undefined) return null;
  return { vendorName, vendor, upstream: isPrefixed ? model.slice(prefix.length + 1) : model };
}

/** What stands before the first slash. */
export function prefixOf(model: string): string | null {
  const slash = model.indexOf('/');
  return slash === -1 ? null : model.slice(0, slash);
}
