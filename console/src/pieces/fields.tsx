import { useId, type ReactNode } from 'react';
import { nameOf, type Write } from './use-write.ts';

export interface Common {
  /** In the form’s data and in the API’s refusals. */
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  readonly sending: Write;
}

export const problemOf = (name: string, { fields }: Write) =>
  fields.find(({ path }) => nameOf(path) === name || path === name)?.message;

/** Explains a field; its problem stands in the place of the hint. */
export function Note({
  id,
  problem,
  hint,
}: {
  id: string;
  problem: string | undefined;
  hint?: string;
}) {
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
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly autoFocus?: boolean;
  readonly inputMode?: 'decimal';
  /** What the browser may fill in. Default: nothing. */
  readonly autoComplete?:
    | 'name'
    | 'username'
    | 'current-password'
    | 'new-password'
    | 'one-time-code';
}

/** A field for a line of text. */
export function TextField(props: TextFieldProps) {
  const { name, label, hint, sending, initial, autoComplete = 'off', ...rest } = props;
  const problem = problemOf(name, sending);
  const id = useId();
  return (
    <div className="field" onInput={() => sending.correct(name)}>
      <label htmlFor={id}>{label}</label>
      <input
        className="input"
        id={id}
        name={name}
        {...rest}
        {...(rest.type === 'number' && { min: 0, step: 1 })}
        defaultValue={initial ?? undefined}
        autoComplete={autoComplete}
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
  const id = useId();
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

interface ShortFormProps {
  readonly sending: Write;
  /** The word of its button. */
  readonly submit: string;
  /** Whether it is what the page is for. */
  readonly isMain?: boolean;
  /** Absent: as narrow as its fields. */
  readonly className?: string | undefined;
  /** Receives what was typed. @throws ApiFailure */
  readonly onSend: (form: FormData, element: HTMLFormElement) => Promise<void>;
  readonly children: ReactNode;
}

/** A form of a few lines on a page, with what is wrong with all of it, and its button. */
export function ShortForm(props: ShortFormProps) {
  const { sending, submit, isMain = false, className = 'shortForm', onSend, children } = props;
  return (
    <form
      className={className}
      onSubmit={(event) => {
        event.preventDefault();
        const element = event.currentTarget;
        sending.run(() => onSend(new FormData(element), element));
      }}
    >
      {children}
      <p className="problem" role="alert">
        {sending.problem}
      </p>
      <button type="submit" className={isMain ? 'button main' : 'button'} disabled={sending.isBusy}>
        {submit}
      </button>
    </form>
  );
}
