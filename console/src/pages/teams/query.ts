import { queryOptions } from '@tanstack/react-query';
import { read, type Result } from '../../api/client.ts';
import { limitState, type LimitState } from '../../format/limit.ts';
import { peopleKey } from '../people/query.ts';

export type Team = Result<'readTeam'>;
export type ListedTeam = Result<'listTeams'>['data'][number];

/** @param id or the name */
export const teamQuery = (id: string) =>
  queryOptions({
    queryKey: [...peopleKey, 'team', id],
    queryFn: ({ signal }) => read<'readTeam'>(`/teams/${encodeURIComponent(id)}`, {}, signal),
  });

const paces = ['used-up', 'early', 'within'] as const;

export type TeamLimit = ListedTeam['limits'][number];

/** The budget that ends first, with how it stands; null: the team has none. */
export function nearestLimit({
  limits,
}: Pick<ListedTeam, 'limits'>): { readonly limit: TeamLimit; readonly state: LimitState } | null {
  const states = limits.map((limit) => ({ limit, state: limitState(limit, Date.now()) }));
  const sorted = states.toSorted(
    (a, b) =>
      paces.indexOf(a.state.pace) - paces.indexOf(b.state.pace) ||
      (a.state.reachedAt ?? 0) - (b.state.reachedAt ?? 0),
  );
  return sorted[0] ?? null;
}
