import { useNavigate, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useWords } from '../../words/index.ts';
import styles from './page.module.css';
import type { RecordsSearch } from './search.ts';

interface Props<Name> {
  /** Those of the fields, which are parts of the address too. */
  readonly names: readonly Name[];
  /** The fields. */
  readonly children: ReactNode;
  /** What stands behind them. */
  readonly after?: ReactNode;
}

/** Fields that filter the list below. What the address says stands in them. */
export function FilterForm<Name extends keyof RecordsSearch>({
  names,
  children,
  after,
}: Props<Name>) {
  const say = useWords();
  const navigate = useNavigate();
  // Another list is shown without the task that was open beside this one.
  const { task: _task, ...search } = useSearch({ from: '/inside/records' });
  return (
    <form
      className={styles['tools']}
      role="search"
      key={names.map((name) => (search as RecordsSearch)[name]).join('\n')}
      onSubmit={(event) => {
        event.preventDefault();
        const form = new FormData(event.currentTarget);
        const values = names.map((name) => {
          const value = form.get(name);
          return [
            name,
            typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined,
          ];
        });
        const next = { ...search, ...Object.fromEntries(values) } as RecordsSearch;
        void navigate({ to: '/records', search: next });
      }}
    >
      {children}
      <button type="submit" className="button">
        {say('records.filter')}
      </button>
      {after}
    </form>
  );
}

/** One of them, with its label. */
export function FilterField({ label, ...input }: { readonly label: string } & FieldProps) {
  return (
    <label className="field">
      {label}
      <input className="input" maxLength={400} {...input} />
    </label>
  );
}

interface FieldProps {
  readonly id?: string;
  readonly name: string;
  readonly defaultValue: string | undefined;
  readonly maxLength?: number;
}

/** A choice among words; the first one is that of none. */
export function FilterChoice({
  label,
  none,
  options,
  ...select
}: {
  readonly label: string;
  readonly none: string;
  readonly options: readonly (readonly [value: string, text: string])[];
  readonly name: string;
  readonly defaultValue: string | undefined;
}) {
  return (
    <label className="field">
      {label}
      <select
        className="input"
        {...select}
        onChange={({ currentTarget }) => currentTarget.form?.requestSubmit()}
      >
        <option value="">{none}</option>
        {options.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}
