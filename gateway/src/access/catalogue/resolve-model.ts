import type { CatalogueSnapshot, Model } from './snapshot.ts';

/**
 * The catalogue model behind the name a client wrote, aliases followed; null when there is none. `id` is the
 * name to look for in `routes`. What is named twice was settled when the snapshot was built.
 */
export function resolveModel(
  snapshot: CatalogueSnapshot,
  name: string,
): { readonly model: Model; readonly id: string } | null {
  const own = snapshot.models.get(name);
  if (own !== undefined) return { model: own, id: name };
  const id = snapshot.aliases.get(name);
  const model = id === undefined ? undefined : snapshot.models.get(id);
  return id === undefined || model === undefined ? null : { model, id };
}
