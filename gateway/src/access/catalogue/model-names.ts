import { matchesPattern } from '#config/pattern.ts';
import { isPriced } from './prices.ts';
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

/** The model behind a name, and why requests for it are refused whatever the channels do. */
export interface UsableModel {
  readonly model: Model | null;
  /** Null: nothing has this name. */
  readonly id: string | null;
  /** The names under which channels may serve it, the preferred one first. */
  readonly servedNames: readonly string[];
  readonly refusal:
    | 'model_not_allowed'
    | 'model_not_available'
    | 'model_disabled'
    | 'model_unpriced'
    | null;
}

/**
 * Finds the model behind a name. The order of checks is documented: allowed for the key, known, enabled, priced.
 * @param allowed names that a key may use; null: all
 */
export function findUsableModel(
  snapshot: CatalogueSnapshot,
  name: string,
  allowed: ReadonlySet<string> | null,
): UsableModel {
  const named = resolveModel(snapshot, name);
  const { model = null, id = null } = named ?? {};
  const servedNames = id === null || id === name ? [name] : [name, id];
  const isAllowed = allowed === null || allowed.has(name) || (id !== null && allowed.has(id));
  const found = { model, id, servedNames };
  if (!isAllowed) return { ...found, refusal: 'model_not_allowed' };
  if (model === null) return { ...found, refusal: 'model_not_available' };
  if (!model.enabled) return { ...found, refusal: 'model_disabled' };
  return { ...found, refusal: isPriced(model) ? null : 'model_unpriced' };
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
