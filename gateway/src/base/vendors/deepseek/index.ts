import { openaiCompatible } from '../openai-compatible/index.ts';
import { developerAsSystem } from '../quirks.ts';
import { demandingTraits } from '../traits.ts';
import type { HostedVendor } from '../vendor.ts';

/**
 * In thinking mode it returns 400 unless every message of the model has its `reasoning_content`, from the first request
 * with tools on: https://api-docs.deepseek.com/guides/thinking_mode#tool-calls
 */
export const deepseek = {
  ...openaiCompatible,
  name: 'deepseek',
  provider: 'openai-compatible',
  baseUrl: 'https://api.deepseek.com/v1',
  protocols: ['chat'],
  environmentKey: 'DEEPSEEK_API_KEY',
  keyBeginnings: ['sk-'],
  traitsOf: () => demandingTraits,
  // It is strict with lone surrogates: https://github.com/JohnnyZ93/oai-compatible-copilot/issues/206
  repairs: ['b41'],
  // It ignores the newer name of the limit (https://github.com/earendil-works/pi/issues/8018), and refuses the newer role
  // (https://github.com/earendil-works/pi/issues/1048).
  quirks: [
    { id: 'p18', protocol: 'chat', edit: { rename: 'max_completion_tokens', to: 'max_tokens' } },
    { id: 'p19', protocol: 'chat', edit: developerAsSystem },
  ],
} satisfies HostedVendor;
