import { openaiCompatible } from '../openai-compatible/index.ts';
import { forbiddingTraits } from '../traits.ts';
import type { HostedVendor, FaultTable } from '../vendor.ts';

/** https://console.groq.com/docs/errors, https://console.groq.com/docs/spend-limits */
export const groqFaults: FaultTable = {
  words: {
    // With 400: its spend limit is reached, or it was closed.
    blocked_api_access: 'account',
    organization_restricted: 'account',
    model_decommissioned: 'model_missing',
    model_terms_required: 'account',
  },
  texts: [
    // "Please reduce the length of the messages or completion."
    [/reduce the length of the (messages|prompt|input)/i, 'context_overflow'],
  ],
};

/** Fields that it refuses with 400: https://console.groq.com/docs/openai */
export const groq = {
  ...openaiCompatible,
  name: 'groq',
  provider: 'openai-compatible',
  baseUrl: 'https://api.groq.com/openai/v1',
  protocols: ['chat', 'responses'],
  environmentKey: 'GROQ_API_KEY',
  keyBeginnings: ['gsk_'],
  // "property 'reasoning_content' is unsupported": https://github.com/janhq/jan/issues/8136
  traitsOf: () => forbiddingTraits,
  // A response does not depend on this field. The other refused fields are for the client to omit.
  quirks: [{ id: 'p1', protocol: 'chat', edit: { drop: 'messages[].name' } }],
} satisfies HostedVendor;
