import type { FaultTable } from '../fault-table.ts';

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
