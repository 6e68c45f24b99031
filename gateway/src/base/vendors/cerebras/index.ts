import { openaiCompatible } from '../openai-compatible/index.ts';
import { forbiddingTraits } from '../traits.ts';
import type { HostedVendor } from '../vendor.ts';

/**
 * It returns 400 "property 'messages.2.assistant.reasoning_content' is unsupported" for every model:
 * https://github.com/QwenLM/qwen-code/issues/11045
 */
export const cerebras = {
  ...openaiCompatible,
  name: 'cerebras',
  provider: 'openai-compatible',
  baseUrl: 'https://api.cerebras.ai/v1',
  protocols: ['chat'],
  environmentKey: 'CEREBRAS_API_KEY',
  keyBeginnings: ['csk-'],
  traitsOf: () => forbiddingTraits,
} satisfies HostedVendor;
