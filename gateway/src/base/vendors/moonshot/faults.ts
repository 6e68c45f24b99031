import type { FaultTable } from '../fault-table.ts';

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
