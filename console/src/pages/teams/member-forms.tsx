import { type FormEvent } from 'react';
import { write, type Result } from '../../api/client.ts';
import { useSession } from '../../app/session.ts';
import { Dialog } from '../../pieces/dialog.tsx';
import { ChoiceField, FormEnd, TextField } from '../../pieces/fields.tsx';
import { KnownNameField } from '../../pieces/known-fields.tsx';
import { textOf } from '../../pieces/form-values.ts';
import { useWrite } from '../../pieces/use-write.ts';
import { useWords } from '../../words/index.ts';
import styles from '../people/page.module.css';
import { useAddresses } from '../people/person-fields.tsx';
import type { Team } from './query.ts';

export type Member = Result<'listMembers'>['data'][number];

interface Props {
  readonly team: Team;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

const roles = ['member', 'owner'] as const;
const pathOf = (team: Team, user: string) =>
  `/teams/${team.id}/members/${encodeURIComponent(user)}`;

/** Makes somebody a member, or changes what a member may. @param of absent: somebody new */
export function MemberForm({ team, of, onDone, onClose }: Props & { readonly of?: Member }) {
  const say = useWords();
  const { csrf_token: token, permissions } = useSession();
  const sending = useWrite(['role', 'budget']);
  // An owner knows who it is; the list of all people is not for everybody.
  const seesPeople = permissions.includes('users.read');
  const addresses = useAddresses({ isEnabled: of === undefined && seesPeople, notOf: team.name });

  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const user = of?.user ?? textOf(form, 'user') ?? '';
    const role = roles.find((each) => each === textOf(form, 'role')) ?? 'member';
    const body = { role, budget: textOf(form, 'budget') };
    const headers = { 'if-match': `"${team.revision}"` };
    sending.run(async () => {
      await write<'putMember'>('PUT', pathOf(team, user), body, token, headers);
      onDone();
    });
  }

  const person = {
    name: 'user',
    label: say('teams.members.person'),
    hint: say('teams.members.personHint'),
    sending,
  } as const;
  const title =
    of === undefined
      ? say('teams.members.addNamed', { name: team.name })
      : say('teams.members.changeNamed', { user: of.name ?? of.user, name: team.name });
  return (
    <Dialog title={title} onClose={onClose}>
      <form className={styles['form']} onSubmit={submit}>
        {of === undefined &&
          (seesPeople ? (
            <KnownNameField {...person} names={addresses} />
          ) : (
            <TextField {...person} type="email" required />
          ))}
        <ChoiceField
          name="role"
          label={say('teams.members.role')}
          initial={of?.role}
          choices={roles.map((role) => [role, say(`teams.members.roleTexts.${role}`)])}
          sending={sending}
        />
        <TextField
          name="budget"
          label={say('teams.members.budget')}
          hint={say('teams.members.budgetHint')}
          initial={of?.limit?.limit}
          sending={sending}
        />
        <FormEnd
          sending={sending}
          cancel={say('people.cancel')}
          submit={say(of === undefined ? 'teams.members.addButton' : 'people.save')}
          onCancel={onClose}
        />
      </form>
    </Dialog>
  );
}

/** Says what stops before somebody leaves a team. */
export function RemoveMember({ team, of, onDone, onClose }: Props & { readonly of: Member }) {
  const say = useWords();
  const { csrf_token: token } = useSession();
  const sending = useWrite();

  function submit(event: FormEvent): void {
    event.preventDefault();
    const headers = { 'if-match': `"${team.revision}"` };
    sending.run(async () => {
      await write<'removeMember'>('DELETE', pathOf(team, of.user), {}, token, headers);
      onDone();
    });
  }

  const user = of.name ?? of.user;
  return (
    <Dialog title={say('teams.members.removeNamed', { user, name: team.name })} onClose={onClose}>
      <form className={styles['form']} onSubmit={submit}>
        <p>{say(team.member_count === 1 ? 'teams.members.none' : 'teams.members.removeText')}</p>
        <FormEnd
          sending={sending}
          cancel={say('people.cancel')}
          submit={say('teams.members.remove')}
          onCancel={onClose}
        />
      </form>
    </Dialog>
  );
}
