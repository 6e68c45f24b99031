import type { RefObject } from 'react';

interface Props {
  readonly id: string;
  readonly label: string;
  readonly hint: string;
  readonly value: string;
  readonly onChange: (text: string) => void;
  /** For a shortcut that goes to the field. */
  readonly field?: RefObject<HTMLInputElement | null>;
}

/** A field that searches the list below it as somebody types. */
export function SearchField({ id, label, hint, value, onChange, field }: Props) {
  return (
    <>
      <label className="hidden" htmlFor={id}>
        {label}
      </label>
      <input
        className="input"
        id={id}
        ref={field}
        type="search"
        value={value}
        placeholder={hint}
        autoComplete="off"
        spellCheck={false}
        maxLength={64}
        onChange={({ target }) => onChange(target.value)}
        // The browser itself empties the field first.
        onKeyDown={({ key, currentTarget }) => {
          if (key === 'Escape' && value === '') currentTarget.blur();
        }}
      />
    </>
  );
}
