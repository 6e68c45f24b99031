import type { ReactNode } from 'react';
import { nameOf, type Write } from './use-write.ts';
import { NameField, NamesField } from './name-fields.tsx';

interface Common {
  /** In the form’s data and in the API’s refusals. */
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  readonly sending: Write;
}

const problemOf = (name: string, { fields }: Write) =>
  fields.find(({ path }) => nameOf(path) === name || path === name)?.message;

/** Explains a field; its problem stands in the place of the hint. */
function Note({ id, problem, hint }: { id: string; problem: string | undefined; hint?: string }) {
  return (
    <p className={problem === undefined ? 'hint' : 'problem'} id={id}>
      {problem ?? hint ?? ''}
    </p>
  );
}

export interface TextFieldProps extends Common {
  readonly type?: 'text' | 'email' | 'number' | 'date' | 'password';
  readonly initial?: string | number | null | undefined;
  readonly required?: boolean;
  readonly maxLength?: number;
  /** What the browser may fill in. Default: nothing. */
  readonly autoComplete?: 'name' | 'current-password' | 'new-password';
}

/** A field for a line of text. */
export function TextField(props: TextFieldProps) {
  const { name, label, hint, sending, type = 'text', initial, required, maxLength } = props;
  const problem = problemOf(name, sending);
  const id = `field-${name}`;
  return (
    <div className="field" onInput={() => sending.correct(name)}>
      <label htmlFor={id}>{label}</label>
      <input
        className="input"
        id={id}
        name={name}
        type={type}
        {...(type === 'number' && { min: 0, step: 1 })}
        defaultValue={initial ?? undefined}
        required={required}
        maxLength={maxLength}
        autoComplete={props.autoComplete ?? 'off'}
        spellCheck={false}
        aria-invalid={problem !== undefined}
        aria-describedby={`${id}-note`}
      />
      <Note id={`${id}-note`} problem={problem} {...(hint !== undefined && { hint })} />
    </div>
  );
}

export interface ChoiceFieldProps extends Common {
  readonly initial?: string | undefined;
  /** Values with what they are called. */
  readonly choices: readonly (readonly [value: string, text: string])[];
}

/** A field for one of a few values. */
export function ChoiceField({ name, label, hint, sending, initial, choices }: ChoiceFieldProps) {
  const problem = problemOf(name, sending);
  const id = `field-${name}`;
  return (
    <div className="field" onInput={() => sending.correct(name)}>
      <label htmlFor={id}>{label}</label>
      <select
        className="input"
        id={id}
        name={name}
        defaultValue={initial}
        aria-invalid={problem !== undefined}
        aria-describedby={`${id}-note`}
      >
        {choices.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
      <Note id={`${id}-note`} problem={problem} {...(hint !== undefined && { hint })} />
    </div>
  );
}

interface KnownFieldProps extends Common {
  /** What is known; other names can be typed. */
  readonly names: readonly string[];
}

/** A field for one name, of those that are known or another. */
export function KnownNameField(props: KnownFieldProps & { readonly initial?: string }) {
  return (
    <KnownField {...props}>
      {(field) => <NameField {...field} initial={props.initial ?? ''} />}
    </KnownField>
  );
}

/** The same for several names. */
export function KnownNamesField(props: KnownFieldProps & { readonly initial: readonly string[] }) {
  return (
    <KnownField {...props}>
      {(field) => <NamesField {...field} initial={props.initial} />}
    </KnownField>
  );
}

function KnownField({
  name,
  label,
  hint,
  sending,
  names,
  children,
}: KnownFieldProps & {
  readonly children: (field: {
    id: string;
    name: string;
    names: readonly string[];
    isWrong: boolean;
    note: string;
  }) => ReactNode;
}) {
  const problem = problemOf(name, sending);
  const id = `field-${name}`;
  return (
    <div className="field" onInput={() => sending.correct(name)}>
      <label htmlFor={id} id={`${id}-label`}>
        {label}
      </label>
      {children({ id, name, names, isWrong: problem !== undefined, note: `${id}-note` })}
      <Note id={`${id}-note`} problem={problem} {...(hint !== undefined && { hint })} />
    </div>
  );
}

/** The last lines of a form in a dialog: what is wrong with all of it, and what is done with it. */
export function FormEnd({
  sending,
  cancel,
  submit,
  onCancel,
}: {
  readonly sending: Write;
  readonly cancel: string;
  readonly submit: string;
  readonly onCancel: () => void;
}) {
  return (
    <>
      <p className="problem" role="alert">
        {sending.problem}
      </p>
      <div className="formEnd">
        <button type="button" className="button" onClick={onCancel}>
          {cancel}
        </button>
        <button type="submit" className="button main" disabled={sending.isBusy}>
          {submit}
        </button>
      </div>
    </>
  );
}
