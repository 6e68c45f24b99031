import { openaiCompatible } from '../openai-compatible/index.ts';
import { developerAsSystem } from '../quirks.ts';
import { demandingTraits } from '../traits.ts';
import type { HostedVendor } from '../vendor.ts';

/**
 * It returns 400 "thinking is enabled but reasoning_content is missing in assistant tool call message at index 7":
 * https://platform.moonshot.ai/docs/guide/use-kimi-k2-thinking-model
 */
export const moonshot = {
  ...openaiCompatible,
  name: 'moonshot',
  provider: 'openai-compatible',
  baseUrl: 'https://api.moonshot.ai/v1',
  alsoAt: ['api.moonshot.cn', 'api.kimi.com'],
  protocols: ['chat'],
  environmentKey: 'MOONSHOT_API_KEY',
  traitsOf: () => demandingTraits,
  // "ROLE_UNSPECIFIED": https://github.com/openclaw/openclaw/pull/22194
  quirks: [{ id: 'p20', protocol: 'chat', edit: developerAsSystem }],
} satisfies HostedVendor;
