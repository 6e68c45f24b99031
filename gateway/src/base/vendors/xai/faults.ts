import type { FaultTable } from '../fault-table.ts';

/** https://docs.x.ai/docs/key-information/debugging */
export const xaiFaults: FaultTable = {
  words: {},
  texts: [
    // "This model's maximum prompt length is 131072 but the request contains 537812 tokens."
    [/maximum prompt length/i, 'context_overflow'],
    // An empty account gets 403 or 429: "Your team … has either used all available credits or reached its monthly spending
    // limit."; "Your newly created team doesn't have any credits yet."
    [/used all available credits|monthly spending limit|have any credits/i, 'account'],
    // With 400: "Incorrect API key provided: xa***."
    [/^incorrect api key/i, 'account'],
  ],
};
