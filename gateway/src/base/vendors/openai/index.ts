import { reasoningEfforts } from '#canonical/index.ts';
import type { Quirk } from '../quirks.ts';
import type { Vendor, VendorPaths } from '../vendor.ts';
import type { SurchargeFacts } from '../surcharges.ts';
import { readModelName, reasoningMembers, singleCalls } from './models.ts';
import { plainTraits, type UpstreamTraits } from '../traits.ts';

/** What all of its models take: it renamed members that other servers know by their old names, and added some. */
const common: UpstreamTraits = Object.freeze({
  ...plainTraits,
  renamedMembers: true,
  cacheKeys: true,
  serviceTiers: true,
  storage: true,
  customTools: true,
  toolNamespaces: true,
  allowedTools: true,
  refusals: true,
  verbosity: true,
  systemTurns: true,
  // A name that says nothing may stand for any model.
  efforts: reasoningEfforts,
});

/** By the model's name. */
export function openAiTraits(model: string): UpstreamTraits {
  const { version, efforts } = readModelName(model);
  return {
    ...common,
    ...(efforts !== null && { efforts, leastEffort: efforts[0] ?? null }),
    // Since GPT-5.6 (`prompt_cache_options` in its reference); models before it find their caches by themselves.
    cacheMarkers: version >= 506,
    // Only models made for it: https://platform.openai.com/docs/guides/tools-web-search
    alwaysSearches: model.includes('-search'),
  };
}

/** Paths of the OpenAI style API after its `/v1`. */
export const openAiPaths = {
  chat: { generate: '/chat/completions' },
  responses: {
    generate: '/responses',
    'count-tokens': '/responses/input_tokens',
    compact: '/responses/compact',
  },
  embeddings: { generate: '/embeddings' },
  images: { generate: '/images/generations', edit: '/images/edits' },
} satisfies VendorPaths;

/** The OpenAI style credential; nothing for a server that wants none. */
export function bearer(secret: string | null): Readonly<Record<string, string>> {
  return secret === null ? {} : { authorization: `Bearer ${secret}` };
}

/** Its "Priority processing" page; flex and batch are cheaper. */
export const openAiSurcharges: SurchargeFacts = { dear: ['service_tier.priority'], betas: [] };

/**
 * It checks the schemas of tools against JSON Schema 2020-12, and names the first that fails. Its reasoning models know the
 * limit by its newer name only (https://github.com/openai/openai-python/issues/2046), and refuse the penalties and `top_p`
 * (https://github.com/stanford-crfm/helm/pull/3617, https://github.com/brainlid/langchain/pull/428): a value that asks for
 * nothing is left out, any other one is for the client to omit.
 */
const quirks: readonly Quirk[] = [
  { id: 'p5', protocol: 'chat', edit: { modernize: 'tools[].function.parameters' } },
  { id: 'p6', protocol: 'responses', edit: { modernize: 'tools[].parameters' } },
  { id: 'p7', protocol: 'responses', edit: { modernize: 'tools[].tools[].parameters' } },
  {
    id: 'p8',
    protocol: 'chat',
    models: reasoningMembers,
    edit: { rename: 'max_tokens', to: 'max_completion_tokens' },
  },
  {
    id: 'p9',
    protocol: 'chat',
    models: reasoningMembers,
    edit: { drop: 'presence_penalty', value: 0 },
  },
  {
    id: 'p10',
    protocol: 'chat',
    models: reasoningMembers,
    edit: { drop: 'frequency_penalty', value: 0 },
  },
  { id: 'p11', protocol: 'chat', models: reasoningMembers, edit: { drop: 'top_p', value: 1 } },
  { id: 'p12', protocol: 'responses', models: reasoningMembers, edit: { drop: 'top_p', value: 1 } },
  { id: 'p13', protocol: 'chat', models: singleCalls, edit: { drop: 'parallel_tool_calls' } },
];

export const openai = {
  name: 'openai',
  baseUrl: 'https://api.openai.com/v1',
  versionPath: '/v1',
  protocols: ['chat', 'responses', 'images', 'embeddings'],
  environmentKey: 'OPENAI_API_KEY',
  ownedBy: 'openai',
  countsTokensIn: ['responses'],
  textProtocolsOf: (model) => readModelName(model).protocols,
  compacts: true,
  paths: openAiPaths,
  headers: bearer,
  surcharges: openAiSurcharges,
  traitsOf: openAiTraits,
  // "OpenAI's backend" is strict, too: https://github.com/anomalyco/opencode/pull/17758
  // "Invalid value for 'content': expected a string, got null."
  repairs: ['b12', 'b41'],
  quirks,
} satisfies Vendor;
