import { openaiCompatible } from '../openai-compatible/index.ts';
import type { HostedVendor } from '../vendor.ts';

/** Gemini behind OpenAI's protocol: https://ai.google.dev/gemini-api/docs/openai */
export const geminiChat = {
  ...openaiCompatible,
  name: 'gemini-chat',
  provider: 'openai-compatible',
  baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai',
  versionPath: '/v1beta/openai',
  protocols: ['chat'],
  environmentKey: null,
  hidesReasoningInTotal: true,
} satisfies HostedVendor;
