import type { CatalogueSnapshot, Model } from './snapshot.ts';

/**
 * The catalogue model for the name that a client wrote, following aliases; null if there is none. `id` is the name to
 * look up in `routes`. Building the snapshot already resolved names with two meanings.
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
