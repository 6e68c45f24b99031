import {
  type Extension,
  type Extensions,
  type GenerationRequest,
  reasoningEfforts,
  type ReasoningRequest,
} from '#canonical/index.ts';
import type { Effort, UpstreamTraits } from '#vendors/index.ts';
import type { EncodeTarget } from '../../codec.ts';
import { textFacts } from '../../text-facts.ts';
import type { JsonRecord } from '../values.ts';
import type { Losses } from './losses.ts';

/** `{extensions}` for spreading into a block; empty if there are none, so that equal blocks compare equal. */
export function withExtensions(extensions: Extensions): { extensions?: Extensions } {
  return extensions.length === 0 ? {} : { extensions };
}

type SharedTrait = 'cacheKeys' | 'serviceTiers' | 'storage';

/** Members that chat and responses have in common at the vendor of both, and the traits of upstreams that have them. */
const traitsOf: ReadonlyMap<string, SharedTrait> = new Map([
  ['metadata', 'storage'],
  ['prompt_cache_options', 'cacheKeys'],
  ['prompt_cache_retention', 'cacheKeys'],
  ['service_tier', 'serviceTiers'],
  ['store', 'storage'],
]);

/**
 * Divides the extensions of a request for chat or responses into the members that the upstream has under the same name
 * in its own protocol, and all others.
 */
export function sharedMembers(
  extensions: Extensions,
  { traits }: Pick<EncodeTarget, 'traits'>,
): { readonly shared: JsonRecord; readonly others: Extensions } {
  const isStored = extensions.some(({ name, value }) => name === 'store' && value === true);
  const isShared = ({ protocol, name }: Extension): boolean => {
    const trait = traitsOf.get(name);
    if (trait === undefined || !traits[trait]) return false;
    // OpenAI's chat refuses metadata of what it does not store.
    if (name === 'metadata' && !isStored) return false;
    return textFacts[protocol].sharesTiers;
  };
  return {
    shared: Object.fromEntries(
      extensions.filter(isShared).map(({ name, value }) => [name, value] as const),
    ),
    others: extensions.filter((extension) => !isShared(extension)),
  };
}

/**
 * The members of chat and responses for the end user and for the shared prompt cache. Most servers know only the older
 * name of the first, and no cache keys.
 */
export function encodeOrigin(
  { cacheKey, endUser }: GenerationRequest,
  { traits }: Pick<EncodeTarget, 'traits'>,
  losses: Losses,
): JsonRecord {
  const { cacheKeys, renamedMembers } = traits;
  if (cacheKey !== null && !cacheKeys) losses.dropped('cache_key');
  return {
    ...(cacheKey !== null && cacheKeys && { prompt_cache_key: cacheKey }),
    ...(endUser !== null && { [renamedMembers ? 'safety_identifier' : 'user']: endUser }),
  };
}

/** Reasoning tokens, and the closest effort. */
const budgets: readonly { readonly upTo: number; readonly effort: Effort }[] = [
  { upTo: 512, effort: 'minimal' },
  { upTo: 1024, effort: 'low' },
  { upTo: 8192, effort: 'medium' },
  { upTo: 24_576, effort: 'high' },
  { upTo: Infinity, effort: 'xhigh' },
];

/** The effort for a model behind chat or responses. Null: none is sent, and the model keeps its default. */
export function encodeEffort(
  { mode, effort, budget }: ReasoningRequest,
  { efforts, leastEffort }: Pick<UpstreamTraits, 'efforts' | 'leastEffort'>,
  losses: Losses,
): Effort | null {
  if (mode === 'off') {
    if (leastEffort !== 'none') losses.approximated('reasoning');
    return leastEffort;
  }
  if (effort === null && budget !== null) losses.approximated('reasoning.budget');
  const wantedEffort =
    effort ?? budgets.find(({ upTo }) => budget !== null && budget <= upTo)?.effort;
  if (wantedEffort === undefined) return null;
  const sentEffort = closestEffort(wantedEffort, efforts);
  if (sentEffort !== wantedEffort) losses.approximated('reasoning.effort');
  return sentEffort;
}

/** The next lower one that the model takes, else its least. */
function closestEffort(wantedEffort: Effort, takenEfforts: UpstreamTraits['efforts']): Effort {
  const upTo = reasoningEfforts.slice(0, reasoningEfforts.indexOf(wantedEffort) + 1);
  return (
    upTo.findLast((effort) => takenEfforts.includes(effort)) ?? takenEfforts[0] ?? wantedEffort
  );
}

/** True if the catalogue confirms it, or does not know. */
export function mayHave({ capabilities }: EncodeTarget, capability: string): boolean {
  return capabilities.size === 0 || capabilities.has(capability);
}
