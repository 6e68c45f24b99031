import type { Route } from '#catalogue/index.ts';
import type { ResolvedModel } from '../exchange/find-model.ts';
import type { TextInput } from './input.ts';

/** Every route that the caller's group has to a model, by any of its names, whoever the client is. */
export function namedRoutes(
  { caller }: Pick<TextInput, 'caller'>,
  { snapshot, servedNames }: Pick<ResolvedModel, 'snapshot' | 'servedNames'>,
): readonly Route[] {
  const routes = snapshot.routes.get(caller.group);
  return servedNames.flatMap((name) => routes?.get(name) ?? []);
}
