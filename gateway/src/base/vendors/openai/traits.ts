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
  fineEfforts: true,
});

/** By the model's name. */
export function openAiTraits(model: string): UpstreamTraits {
  const version = versionOf(model);
  return {
    ...common,
    leastEffort: leastEffort(version, model),
    // Since GPT-5.6 (`prompt_cache_options` in its reference); models before it find their caches by themselves.
    cacheMarkers: version >= 506,
    // Only models made for it: https://platform.openai.com/docs/guides/tools-web-search
    alwaysSearches: model.includes('-search'),
  };
}

/** As https://platform.openai.com/docs/guides/reasoning lists them: `none` came with GPT-5.1 and left with GPT-6.1. */
function leastEffort(version: number, model: string): UpstreamTraits['leastEffort'] {
  if (version > 600) return 'low';
  if (version > 500) return 'none';
  return version === 500 && !/codex|pro|chat/.test(model) ? 'minimal' : null;
}

/** `gpt-5.1` is 501; 0 for other names. */
function versionOf(model: string): number {
  const found = /^gpt-(\d+)(?:\.(\d+))?/.exec(model);
  return found === null ? 0 : Number(found[1]) * 100 + Number(found[2] ?? 0);
}
