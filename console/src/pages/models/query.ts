import { queryOptions } from '@tanstack/react-query';
import { read, type Result } from '../../api/client.ts';

export type Model = Result<'listModels'>['data'][number];
export type ModelDetail = Result<'readModel'>;

/** The models that the person may use; also for pages that let somebody choose one. */
export const modelsQuery = queryOptions({
  queryKey: ['models'],
  queryFn: ({ signal }) => read<'listModels'>('/models', {}, signal),
  staleTime: 60_000,
});

/** The whole catalogue, with what no channel serves and what is disabled; for people who may see it. */
export const catalogueQuery = queryOptions({
  queryKey: ['models', '*'],
  queryFn: ({ signal }) => read<'listModels'>('/models', { all: 'true' }, signal),
  staleTime: 60_000,
});

/** What a form for models needs. */
export const modelFormQuery = queryOptions({
  queryKey: ['model-form'],
  queryFn: ({ signal }) => read<'readModelForm'>('/forms/model', {}, signal),
  staleTime: Infinity,
});

export type Alias = Result<'listAliases'>['data'][number];
export const aliasesQuery = queryOptions({
  queryKey: ['aliases'],
  queryFn: ({ signal }) => read<'listAliases'>('/aliases', {}, signal),
});

export type Group = Result<'listGroups'>['data'][number];
export const groupsQuery = queryOptions({
  queryKey: ['groups'],
  queryFn: ({ signal }) => read<'listGroups'>('/groups', {}, signal),
});

export const modelQuery = (id: string) =>
  queryOptions({
    queryKey: ['models', id],
    queryFn: ({ signal }) => read<'readModel'>(`/models/${encodeURIComponent(id)}`, {}, signal),
    staleTime: 60_000,
  });

/** A price by its name in the file; null: it has none. */
export function priceOf({ prices }: Pick<Model, 'prices'>, part: string): string | null {
  return prices.find((price) => price.part === part)?.price ?? null;
}
