import type { Quirk } from '../quirks.ts';
import { openaiCompatible } from '../openai-compatible/index.ts';
import { plainTraits, type UpstreamTraits } from '../traits.ts';
import type { HostedVendor, FaultTable } from '../vendor.ts';

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

/** Models that reason: all since Grok 4. */
const reasoning = /^grok-(3-mini|4|code)/;

/**
 * These models return 400, "Argument not supported on this model: presencePenalty", even for a penalty of 0, which many
 * clients always send (https://docs.x.ai/docs/guides/reasoning).
 */
const quirks: readonly Quirk[] = [
  { id: 'p2', protocol: 'chat', models: reasoning, edit: { drop: 'presence_penalty' } },
  { id: 'p3', protocol: 'chat', models: reasoning, edit: { drop: 'frequency_penalty' } },
];

const traits: UpstreamTraits = Object.freeze({ ...plainTraits, systemTurns: true });

export const xai = {
  ...openaiCompatible,
  name: 'xai',
  provider: 'openai-compatible',
  baseUrl: 'https://api.x.ai/v1',
  protocols: ['chat', 'responses'],
  environmentKey: 'XAI_API_KEY',
  keyBeginnings: ['xai-'],
  // "You can mix system, user, or assistant roles in any sequence": https://docs.x.ai/docs/guides/chat
  traitsOf: () => traits,
  // "lone leading surrogate in hex escape", as of every parser of this kind.
  repairs: ['b41'],
  quirks,
} satisfies HostedVendor;
