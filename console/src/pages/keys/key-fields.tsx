import { useQuery } from '@tanstack/react-query';
import { read } from '../../api/client.ts';
import { NameField, NamesField } from '../../pieces/name-fields.tsx';
import { useWords, type TextName } from '../../words/index.ts';
import { modelsQuery } from '../models/query.ts';
import { nameOf, type Write } from './use-write.ts';
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

/** What is in a field; null: nothing. */
export function textOf(form: FormData, name: string): string | null {
  const value = form.get(name);
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : null;
}

export function readSettings(form: FormData): Settings {
  const count = (name: string) => {
    const value = textOf(form, name);
    return value === null ? null : Number(value);
  };
  const ends = textOf(form, 'expires_at');
  return {
    models: form.getAll('models').flatMap((name) => (typeof name === 'string' ? [name] : [])),
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
  const problem = problemOf('models', sending);
  return (
    <div className="field">
      <label htmlFor="key-models" id="key-models-label">
        {say('keys.form.models')}
      </label>
      <NamesField
        id="key-models"
        name="models"
        names={models.flatMap(({ id, aliases }) => [id, ...aliases])}
        initial={initial?.models ?? []}
        isWrong={problem !== undefined}
        note="key-models-note"
      />
      <Note id="key-models-note" problem={problem} hint="keys.form.modelsHint" />
    </div>
  );
}

/** Whose key it is: one of the people that requests and keys are known of, or another address. */
export function PersonField({ initial, sending }: { initial: string; sending: Write }) {
  const say = useWords();
  const problem = problemOf('user', sending);
  const known = useQuery({
    queryKey: ['people'],
    queryFn: ({ signal }) => read<'readFacets'>('/usage/facets', { limit: '200' }, signal),
    staleTime: 60_000,
  });
  const people = known.data?.user.map(({ value }) => value) ?? [];
  return (
    <div className="field">
      <label htmlFor="key-user" id="key-user-label">
        {say('keys.form.user')}
      </label>
      <NameField
        id="key-user"
        name="user"
        names={[...new Set([initial, ...people])]}
        initial={initial}
        isWrong={problem !== undefined}
        note="key-user-note"
      />
      <Note id="key-user-note" problem={problem} />
    </div>
  );
}

const problemOf = (name: string, { fields }: Write) =>
  fields.find(({ path }) => nameOf(path) === name)?.message;

/** Explains a field; its problem stands in the place of the hint. */
function Note(props: {
  readonly id: string;
  readonly problem: string | undefined;
  readonly hint?: TextName | undefined;
}) {
  const { id, problem, hint } = props;
  const say = useWords();
  return (
    <p className={problem === undefined ? 'hint' : 'problem'} id={id}>
      {problem ?? (hint === undefined ? '' : say(hint))}
    </p>
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
  const problem = problemOf('group', sending);
  return (
    <div className="field">
      <label htmlFor="key-group">{say('keys.form.group')}</label>
      <select
        className="input"
        id="key-group"
        name="group"
        defaultValue={initial ?? (groups.includes('default') ? 'default' : groups[0])}
        aria-invalid={problem !== undefined}
        aria-describedby="key-group-note"
      >
        {groups.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
      <Note id="key-group-note" problem={problem} hint="keys.form.groupHint" />
    </div>
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

export function Field({ name, type = 'text', initial, required, hint, sending }: FieldProps) {
  const say = useWords();
  const problem = problemOf(name, sending);
  const id = `key-${name}`;
  return (
    <div className="field">
      <label htmlFor={id}>{say(`keys.form.${name}`)}</label>
      <input
        className="input"
        id={id}
        name={name}
        type={type}
        {...(type === 'number' && { min: 0, step: 1 })}
        defaultValue={initial ?? undefined}
        required={required}
        autoComplete="off"
        aria-invalid={problem !== undefined}
        aria-describedby={`${id}-note`}
      />
      <Note id={`${id}-note`} problem={problem} hint={hint} />
    </div>
  );
}
