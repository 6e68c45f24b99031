import { ownTimeZone } from '../../app/days.ts';
import { TextField } from '../../pieces/fields.tsx';
import { KnownNamesField } from '../../pieces/known-fields.tsx';
import { namesOf, textOf } from '../../pieces/form-values.ts';
import type { Write } from '../../pieces/use-write.ts';
import { useWords } from '../../words/index.ts';
import { useGroups } from '../people/person-fields.tsx';
import type { Team } from './query.ts';
import styles from '../people/page.module.css';

const budgets = ['monthly', 'daily', 'total'] as const;

export const teamFields = [
  ...budgets.map((name) => `budget.${name}`),
  'time_zone',
  'rpm',
  'groups',
];

/** What a team may be changed to, as its form has it. */
export function readTeam(form: FormData) {
  const rpm = textOf(form, 'rpm');
  return {
    budget: Object.fromEntries(
      budgets.map((name) => [name, textOf(form, `budget.${name}`)]),
    ) as Record<(typeof budgets)[number], string | null>,
    time_zone: textOf(form, 'time_zone'),
    rpm: rpm === null ? null : Number(rpm),
    groups: namesOf(form, 'groups'),
  };
}

/** Budgets, clock, rate and groups of a team. */
export function TeamFields({
  initial,
  sending,
}: {
  /** Absent: those of a new one. */
  readonly initial?: Team;
  readonly sending: Write;
}) {
  const say = useWords();
  return (
    <>
      <div className={styles['pair']}>
        {budgets.map((name) => (
          <TextField
            key={name}
            name={`budget.${name}`}
            label={say(`teams.form.${name}`)}
            hint={say('teams.form.budgetHint')}
            initial={initial?.budget[name]}
            sending={sending}
          />
        ))}
      </div>
      <div className={styles['pair']}>
        <TextField
          name="time_zone"
          label={say('teams.form.time_zone')}
          hint={say('teams.form.time_zoneHint')}
          initial={initial?.time_zone ?? ownTimeZone}
          sending={sending}
        />
        <TextField
          name="rpm"
          type="number"
          label={say('teams.form.rpm')}
          initial={initial?.rpm}
          sending={sending}
        />
      </div>
      <KnownNamesField
        name="groups"
        label={say('teams.form.groups')}
        hint={say('teams.form.groupsHint')}
        names={useGroups()}
        initial={initial?.groups ?? ['default']}
        sending={sending}
      />
    </>
  );
}
