import { openaiCompatible } from '../openai-compatible/index.ts';
import { forbiddingTraits } from '../traits.ts';
import type { HostedVendor } from '../vendor.ts';

export const mistral = {
  ...openaiCompatible,
  name: 'mistral',
  provider: 'openai-compatible',
  baseUrl: 'https://api.mistral.ai/v1',
  protocols: ['chat', 'embeddings'],
  environmentKey: 'MISTRAL_API_KEY',
  // "Extra inputs are not permitted": https://github.com/BerriAI/litellm/issues/30835
  traitsOf: () => forbiddingTraits,
  // It validates against a closed schema (422), and its last chunk has the usage without being asked.
  quirks: [{ id: 'p4', protocol: 'chat', edit: { drop: 'stream_options' } }],
} satisfies HostedVendor;
