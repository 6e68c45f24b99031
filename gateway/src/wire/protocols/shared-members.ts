import type { Extension, Extensions } from '#canonical/index.ts';
import type { EncodeTarget } from './codec.ts';
import type { JsonRecord } from './values.ts';

/** Members that chat and responses have in common at the vendor of both, and nowhere else. */
const names: ReadonlySet<string> = new Set(['prompt_cache_options', 'prompt_cache_retention']);

/**
 * Divides the extensions of a request for chat or responses into the members that the upstream has under the same name
 * in its own protocol, and all others.
 */
export function sharedMembers(
  extensions: Extensions,
  { traits }: Pick<EncodeTarget, 'traits'>,
): { readonly shared: JsonRecord; readonly others: Extensions } {
  const isShared = ({ protocol, name }: Extension): boolean =>
    traits.cacheKeys && (protocol === 'chat' || protocol === 'responses') && names.has(name);
  return {
    shared: Object.fromEntries(
      extensions.filter(isShared).map(({ name, value }) => [name, value] as const),
    ),
    others: extensions.filter((extension) => !isShared(extension)),
  };
}
