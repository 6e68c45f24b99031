import { openaiCompatible } from '../openai-compatible/index.ts';
import { developerAsSystem } from '../quirks.ts';
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
  // It validates against a closed schema (422), and its last chunk has the usage without being asked. Its own names:
  // https://docs.mistral.ai/api, https://github.com/editor-code-assistant/eca/issues/231; `store`:
  // https://github.com/Gitlawb/openclaude/issues/739; roles: https://github.com/openclaw/openclaw/issues/8579
  quirks: [
    { id: 'p4', protocol: 'chat', edit: { drop: 'stream_options' } },
    { id: 'p14', protocol: 'chat', edit: { rename: 'max_completion_tokens', to: 'max_tokens' } },
    { id: 'p15', protocol: 'chat', edit: { rename: 'seed', to: 'random_seed' } },
    { id: 'p16', protocol: 'chat', edit: { drop: 'store', value: false } },
    { id: 'p17', protocol: 'chat', edit: developerAsSystem },
  ],
} satisfies HostedVendor;
