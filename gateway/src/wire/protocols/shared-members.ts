import type { Extension, Extensions } from '#canonical/index.ts';
import type { EncodeTarget } from './codec.ts';
import type { JsonRecord } from './values.ts';

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
    return protocol === 'chat' || protocol === 'responses';
  };
  return {
    shared: Object.fromEntries(
      extensions.filter(isShared).map(({ name, value }) => [name, value] as const),
    ),
    others: extensions.filter((extension) => !isShared(extension)),
  };
}
