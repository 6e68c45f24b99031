import { plainTraits, type UpstreamTraits } from '../traits.ts';
import { reasoningEfforts } from '#canonical/index.ts';
import { readModelName } from './models.ts';

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
