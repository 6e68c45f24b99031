import { matchesPattern } from '#config/pattern.ts';
import type { CatalogueSnapshot, Model } from './snapshot.ts';

/**
 * The catalogue model for the name that a client wrote, following aliases and their patterns; null if there is none. `id` is the name to
 * look up in `routes`. Building the snapshot already resolved names with two meanings.
 */
export function resolveModel(
  snapshot: CatalogueSnapshot,
  name: string,
): { readonly model: Model; readonly id: string } | null {
  const own = snapshot.models.get(name);
  if (own !== undefined && !snapshot.unusedModels.has(name)) return { model: own, id: name };
  const alias = snapshot.aliases.get(name);
  const isExact = alias !== undefined && !snapshot.unusedModels.has(alias);
  const id = (isExact ? alias : patternOf(snapshot, name)) ?? alias ?? own?.id;
  const model = id === undefined ? undefined : snapshot.models.get(id);
  return id === undefined || model === undefined ? null : { model, id };
}

/** Names of models are short; a longer one is not compared. */
const longestName = 200;

function patternOf({ aliasPatterns }: CatalogueSnapshot, name: string): string | undefined {
  if (aliasPatterns.length === 0 || name.length > longestName) return undefined;
  return aliasPatterns.find(({ pattern }) => matchesPattern(pattern, name))?.model;
}

/** A name that clients may write, and the model that it leads to. */
export interface ServedName {
  readonly name: string;
  readonly model: Model;
}

/** What an enabled channel of this group serves, by name in code unit order. Aliases stand under their own names. */
export function servedNames(snapshot: CatalogueSnapshot, group: string): ServedName[] {
  const routes = snapshot.routes.get(group);
  const names: ServedName[] = [];
  const offer = (name: string, id: string): void => {
    const model = snapshot.models.get(id);
    const routesOfName = routes?.get(name) ?? routes?.get(id);
    if (
      model === undefined ||
      !model.enabled ||
      routesOfName === undefined ||
      routesOfName.length === 0
    )
      return;
    names.push({ name, model });
  };
  for (const id of snapshot.models.keys()) offer(id, id);
  for (const [alias, id] of snapshot.aliases) {
    if (!snapshot.models.has(alias)) offer(alias, id);
  }
  return names.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}
