import { useState } from 'react';
import styles from './page.module.css';

interface Props {
  readonly label: string;
  readonly value: number;
  /** Of what the number belongs to: another one drops what was typed. */
  readonly revision: number;
  readonly min: number;
  readonly max: number;
  readonly onSave: (value: number) => void;
}

/** A number that is edited in its cell: Enter saves, Esc and leaving it keep the old one. */
export function CellNumber({ label, value, revision, min, max, onSave }: Props) {
  const [draft, setDraft] = useState<{ text: string; of: number } | null>(null);
  const typed = draft?.of === revision ? draft.text : null;
  const setTyped = (text: string | null) => setDraft(text === null ? null : { text, of: revision });
  return (
    <input
      className={styles['cell']}
      type="number"
      step={1}
      min={min}
      max={max}
      aria-label={label}
      value={typed ?? value}
      onChange={({ target }) => setTyped(target.value)}
      onBlur={() => setTyped(null)}
      onKeyDown={({ key, currentTarget }) => {
        if (key === 'Escape') setTyped(null);
        if (key !== 'Enter' || typed === null || !currentTarget.reportValidity()) return;
        if (typed !== '' && Number(typed) !== value) onSave(Number(typed));
        else setTyped(null);
      }}
    />
  );
}
