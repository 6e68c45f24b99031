import { useState } from 'react';
import styles from './cell-number.module.css';

interface Props {
  readonly label: string;
  /** Null: none, as an empty field. */
  readonly value: number | string | null;
  /** Of what the number belongs to: another one drops what was typed. */
  readonly revision: number;
  readonly min: number;
  readonly max: number;
  /** It is an amount of money, and may be none. Absent: a whole number. */
  readonly isAmount?: true;
  /** @param text null: none */
  readonly onSave: (text: string | null) => void;
}

/** A number that is edited in its cell: Enter saves, Esc and leaving it keep the old one. */
export function CellNumber({ label, value, revision, min, max, isAmount, onSave }: Props) {
  const [draft, setDraft] = useState<{ text: string; of: number } | null>(null);
  const typed = draft?.of === revision ? draft.text : null;
  const setTyped = (text: string | null) => setDraft(text === null ? null : { text, of: revision });
  return (
    <input
      className={`${styles['cell']} ${isAmount ? styles['amount'] : ''}`}
      type="number"
      step={isAmount ? 'any' : 1}
      min={min}
      max={max}
      placeholder="–"
      aria-label={label}
      value={typed ?? value ?? ''}
      onChange={({ target }) => setTyped(target.value)}
      onBlur={() => setTyped(null)}
      onKeyDown={({ key, currentTarget }) => {
        if (key === 'Escape') setTyped(null);
        if (key !== 'Enter' || typed === null || !currentTarget.reportValidity()) return;
        const isSame =
          typed === '' ? value === null : Number(typed) === Number(value ?? Number.NaN);
        if (isSame || (typed === '' && isAmount === undefined)) setTyped(null);
        else onSave(typed === '' ? null : typed);
      }}
    />
  );
}
