import { queryOptions } from '@tanstack/react-query';
import { read, type Result } from '../../api/client.ts';

export type User = Result<'readUser'>;

/** Under which everything is kept that a change of a person or a team changes. */
export const peopleKey = ['people-and-teams'] as const;

/** @param id or the e-mail address */
export const personQuery = (id: string) =>
  queryOptions({
    queryKey: [...peopleKey, 'person', id],
    queryFn: ({ signal }) => read<'readUser'>(`/users/${encodeURIComponent(id)}`, {}, signal),
  });

/** What others call somebody. */
export const nameOfPerson = ({ name, email }: Pick<User, 'name' | 'email'>) => name ?? email;
