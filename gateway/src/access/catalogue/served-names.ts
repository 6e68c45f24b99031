import type { CatalogueSnapshot, Model } from './snapshot.ts';

/** A name that clients may write, and the model that it leads to. */
export interface ServedName {
  readonly name: string;
  readonly model: Model;
}

/** What an enabled channel of this group serves, by name in code unit order. Aliases stand under their own names. */
export function servedNames(snapshot: CatalogueSnapshot, group: string): ServedName[] {
  const routes = snapshot.routes.get(group);
  const served: ServedName[] = [];
  const offer = (name: string, id: string): void => {
    const model = snapshot.models.get(id);
    const found = routes?.get(name) ?? routes?.get(id);
    if (model === undefined || !model.enabled || found === undefined || found.length === 0) return;
    served.push({ name, model });
  };
  for (const id of snapshot.models.keys()) offer(id, id);
  for (const [alias, id] of snapshot.aliases) {
    if (!snapshot.models.has(alias)) offer(alias, id);
  }
  return served.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}
