import { openaiCompatible } from '../openai-compatible/index.ts';
import type { HostedVendor } from '../vendor.ts';
import { classifyGroq } from './classify.ts';

/** https://console.groq.com/docs/openai names what it answers with 400. */
export const groq = {
  ...openaiCompatible,
  name: 'groq',
  provider: 'openai-compatible',
  baseUrl: 'https://api.groq.com/openai/v1',
  protocols: ['chat', 'responses'],
  environmentKey: 'GROQ_API_KEY',
  classify: classifyGroq,
  // Of what it refuses only this is nothing that an answer depends on; the rest is for the client to leave out.
  quirks: [{ id: 'p1', protocol: 'chat', edit: { drop: 'messages[].name' } }],
} satisfies HostedVendor;
