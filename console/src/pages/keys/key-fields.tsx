import { useQuery } from '@tanstack/react-query';
import { read } from '../../api/client.ts';
import { ChoiceField, TextField } from '../../pieces/fields.tsx';
import { KnownNameField, KnownNamesField } from '../../pieces/known-fields.tsx';
import { namesOf, textOf } from '../../pieces/form-values.ts';
import type { Write } from '../../pieces/use-write.ts';
import { useWords, type TextName } from '../../words/index.ts';
import { modelsQuery } from '../models/query.ts';
import styles from './page.module.css';

/** The settings of a key that its form has, as the API takes them. */
export interface Settings {
  readonly models: string[];
  readonly quota: string | null;
  readonly expires_at: string | null;
  readonly rpm: number | null;
  readonly rph: number | null;
  readonly max_concurrency: number | null;
}

export const settingNames = ['models', 'quota', 'expires_at', 'rpm', 'rph', 'max_concurrency'];

export function readSettings(form: FormData): Settings {
  const count = (name: string) => {
    const value = textOf(form, name);
    return value === null ? null : Number(value);
  };
  const ends = textOf(form, 'expires_at');
  return {
    models: namesOf(form, 'models'),
    quota: textOf(form, 'quota'),
    // The beginning of that day where the person is.
    expires_at: ends === null ? null : new Date(`${ends}T00:00`).toISOString(),
    rpm: count('rpm'),
    rph: count('rph'),
    max_concurrency: count('max_concurrency'),
  };
}

interface SettingsProps {
  readonly initial?: Settings | undefined;
  readonly sending: Write;
}

/** All of them. */
export function SettingFields({ initial, sending }: SettingsProps) {
  return (
    <>
      <ModelsField initial={initial} sending={sending} />
      <div className={styles['pair']}>
        <QuotaField initial={initial} sending={sending} />
        <EndField initial={initial} sending={sending} />
      </div>
      <RateFields initial={initial} sending={sending} />
    </>
  );
}

export function ModelsField({ initial, sending }: SettingsProps) {
  const say = useWords();
  const models = useQuery(modelsQuery).data?.data ?? [];
  return (
    <KnownNamesField
      name="models"
      label={say('keys.form.models')}
      hint={say('keys.form.modelsHint')}
      names={models.flatMap(({ id, aliases }) => [id, ...aliases])}
      initial={initial?.models ?? []}
      sending={sending}
    />
  );
}

/** Whose key it is: one of the people that requests and keys are known of, or another address. */
export function PersonField({ initial, sending }: { initial: string; sending: Write }) {
  const say = useWords();
  const known = useQuery({
    queryKey: ['people'],
    queryFn: ({ signal }) => read<'readFacets'>('/usage/facets', { limit: '200' }, signal),
    staleTime: 60_000,
  });
  const people = known.data?.user.map(({ value }) => value) ?? [];
  return (
    <KnownNameField
      name="user"
      label={say('keys.form.user')}
      names={[...new Set([initial, ...people])]}
      initial={initial}
      sending={sending}
    />
  );
}

export function QuotaField({ initial, sending }: SettingsProps) {
  return (
    <Field name="quota" hint="keys.form.quotaHint" initial={initial?.quota} sending={sending} />
  );
}

export function EndField({ initial, sending }: SettingsProps) {
  const ends = initial?.expires_at ?? null;
  return (
    <Field
      name="expires_at"
      type="date"
      hint="keys.form.endsHint"
      initial={ends === null ? null : dayOf(ends)}
      sending={sending}
    />
  );
}

export function RateFields({ initial, sending }: SettingsProps) {
  return (
    <div className={styles['three']}>
      <Field name="rpm" type="number" initial={initial?.rpm} sending={sending} />
      <Field name="rph" type="number" initial={initial?.rph} sending={sending} />
      <Field
        name="max_concurrency"
        type="number"
        initial={initial?.max_concurrency}
        sending={sending}
      />
    </div>
  );
}

/** The day where the person is, as a date field has it. */
export function dayOf(time: string): string {
  const date = new Date(time);
  const two = (number: number) => String(number).padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

interface GroupProps {
  readonly groups: readonly string[];
  /** Absent: the usual one. */
  readonly initial?: string;
  readonly sending: Write;
}

/** One of these groups. */
export function GroupField({ groups, initial, sending }: GroupProps) {
  const say = useWords();
  return (
    <ChoiceField
      name="group"
      label={say('keys.form.group')}
      hint={say('keys.form.groupHint')}
      initial={initial ?? (groups.includes('default') ? 'default' : groups[0])}
      choices={groups.map((name) => [name, name])}
      sending={sending}
    />
  );
}

interface FieldProps {
  readonly name: 'name' | 'quota' | 'expires_at' | 'rpm' | 'rph' | 'max_concurrency';
  readonly type?: 'text' | 'number' | 'date';
  readonly initial?: string | number | null | undefined;
  readonly required?: boolean;
  readonly hint?: TextName;
  readonly sending: Write;
}

export function Field({ name, hint, ...props }: FieldProps) {
  const say = useWords();
  return (
    <TextField
      name={name}
      label={say(`keys.form.${name}`)}
      {...(hint !== undefined && { hint: say(hint) })}
      {...props}
    />
  );
}
