import { openaiCompatible } from '../openai-compatible/index.ts';
import { demandingTraits } from '../traits.ts';
import type { HostedVendor } from '../vendor.ts';

/**
 * It returns 400 "The reasoning_content in the thinking mode must be passed back to the API.":
 * https://platform.xiaomimimo.com/docs/en-US/usage-guide/passing-back-reasoning_content
 */
export const xiaomi = {
  ...openaiCompatible,
  name: 'xiaomi',
  provider: 'openai-compatible',
  baseUrl: 'https://api.xiaomimimo.com/v1',
  alsoAt: [
    'token-plan-cn.xiaomimimo.com',
    'token-plan-sgp.xiaomimimo.com',
    'token-plan-ams.xiaomimimo.com',
  ],
  protocols: ['chat'],
  environmentKey: 'XIAOMI_API_KEY',
  traitsOf: () => demandingTraits,
} satisfies HostedVendor;
