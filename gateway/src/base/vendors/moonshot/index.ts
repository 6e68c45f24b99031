import { openaiCompatible } from '../openai-compatible/index.ts';
import { developerAsSystem } from '../quirks.ts';
import { demandingTraits } from '../traits.ts';
import type { HostedVendor, FaultTable } from '../vendor.ts';

/** https://platform.moonshot.ai/docs/api/errors */
export const moonshotFaults: FaultTable = {
  words: {
    // With 429: https://forum.moonshot.ai/t/429-insufficient-balance/244
    exceeded_current_quota_error: 'account',
    invalid_authentication_error: 'account',
    rate_limit_reached_error: 'quota',
    // With 429.
    engine_overloaded_error: 'overloaded',
    resource_not_found_error: 404,
  },
  texts: [
    // "Invalid request: Your request exceeded model token limit: 262144 (requested: 300000)"
    [/exceeded model token limit|input token length too long/i, 'context_overflow'],
  ],
};

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
  keyBeginnings: ['sk-'],
  traitsOf: () => demandingTraits,
  // "ROLE_UNSPECIFIED": https://github.com/openclaw/openclaw/pull/22194
  quirks: [{ id: 'p20', protocol: 'chat', edit: developerAsSystem }],
} satisfies HostedVendor;
