import type { Route } from '#catalogue/index.ts';
import type { ResolvedModel } from './find-model.ts';
import type { ExchangeInput } from './input.ts';

/** All routes of the caller's group to a model, by any of its names, for any type of client. */
export function namedRoutes(
  { caller }: Pick<ExchangeInput, 'caller'>,
  { snapshot, servedNames }: Pick<ResolvedModel, 'snapshot' | 'servedNames'>,
): readonly Route[] {
  const routes = snapshot.routes.get(caller.group);
  return servedNames.flatMap((name) => routes?.get(name) ?? []);
}
