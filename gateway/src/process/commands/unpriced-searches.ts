import type { DeclaredModel } from '#config/index.ts';

/**
 * A line for each model whose provider can search the web but whose price does not include searches: they would be
 * charged 0. Settings missing from an entry come from the bundled one, but a price replaces the bundled price as a
 * whole.
 */
export function unpricedSearches(
  declared: readonly Pick<DeclaredModel, 'id' | 'type' | 'enabled' | 'capabilities' | 'price'>[],
  bundled: ReadonlyMap<string, readonly string[]>,
): string[] {
  return declared.flatMap(({ id, type, enabled, capabilities, price }) => {
    if (type !== 'chat' || !enabled || price === null || price.fees !== undefined) return [];
    const can = capabilities.length > 0 ? capabilities : bundled.get(id);
    if (can?.includes('hosted_tools') !== true) return [];
    return [
      `model '${id}' has no price for web searches (price.fees.web_search): they are charged 0`,
    ];
  });
}
