import { useId, type ReactNode } from 'react';
import { Note, problemOf, type Common } from './fields.tsx';
import { NameField, NamesField } from './name-fields.tsx';

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
  const id = useId();
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
