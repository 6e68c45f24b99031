import { useQuery } from '@tanstack/react-query';
import { read } from '../../api/client.ts';
import { ChoiceField, TextField } from '../../pieces/fields.tsx';
import { KnownNamesField } from '../../pieces/known-fields.tsx';
import { namesOf, textOf } from '../../pieces/form-values.ts';
import type { Write } from '../../pieces/use-write.ts';
import { useWords } from '../../words/index.ts';
import { modelsQuery } from '../models/query.ts';
import { peopleKey, type User } from './query.ts';

export const roles = ['member', 'viewer', 'billing', 'operator', 'admin'] as const;

export const personFields = ['name', 'role', 'quota', 'groups'];

/** What a person may be changed to, as its form has it. */
export const readPerson = (form: FormData) => ({
  name: textOf(form, 'name'),
  role: textOf(form, 'role'),
  quota: textOf(form, 'quota'),
  groups: namesOf(form, 'groups'),
});

/** Name, role, quota and groups of a person. */
export function PersonFields({
  initial,
  sending,
}: {
  /** Absent: those of a new one. */
  readonly initial?: User;
  readonly sending: Write;
}) {
  const say = useWords();
  return (
    <>
      <TextField
        name="name"
        label={say('people.form.name')}
        hint={say('people.form.nameHint')}
        initial={initial?.name}
        sending={sending}
      />
      <ChoiceField
        name="role"
        label={say('people.form.role')}
        initial={initial?.role ?? 'member'}
        choices={roles.map((role) => [role, say(`people.roles.${role}`)])}
        sending={sending}
      />
      <TextField
        name="quota"
        label={say('people.form.quota')}
        hint={say('people.form.quotaHint')}
        initial={initial?.quota}
        sending={sending}
      />
      <KnownNamesField
        name="groups"
        label={say('people.form.groups')}
        hint={say('people.form.groupsHint')}
        names={useGroups()}
        initial={initial?.groups ?? ['default']}
        sending={sending}
      />
    </>
  );
}

/** The groups that models are served in. */
export function useGroups(): readonly string[] {
  const models = useQuery(modelsQuery).data?.data ?? [];
  return [...new Set(models.flatMap(({ groups }) => groups))].toSorted();
}

/** The addresses of people who have an account. @param notOf without the members of this team */
export function useAddresses({
  isEnabled = true,
  notOf,
}: { readonly isEnabled?: boolean; readonly notOf?: string } = {}): readonly string[] {
  const list = useQuery({
    queryKey: [...peopleKey, 'addresses'],
    enabled: isEnabled,
    queryFn: ({ signal }) => read<'listUsers'>('/users', { limit: '200' }, signal),
    staleTime: 60_000,
  });
  return (list.data?.data ?? [])
    .filter(({ enabled, teams }) => enabled && teams.every(({ name }) => name !== notOf))
    .map(({ email }) => email);
}
