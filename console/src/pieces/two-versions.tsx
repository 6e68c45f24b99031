import type { ReactNode } from 'react';
import { useWords, type Say } from '../words/index.ts';
import { Dialog } from './dialog.tsx';
import { same, type Change } from './merge.ts';
import { Table } from './table.tsx';
import styles from './two-versions.module.css';
import { valueText } from './value-text.ts';

interface Props {
  /** Of the object. */
  readonly name: string;
  readonly changes: readonly Change[];
  /** What a form calls a member or its part. */
  readonly labelOf: (change: Change) => ReactNode;
  /** A value as people read it. Default: as it is. */
  readonly textOf?: ((change: Change, value: unknown) => string | null) | undefined;
  readonly onTakeTheirs: () => void;
  readonly onSaveBoth: () => void;
  readonly onClose: () => void;
}

/** Somebody else has saved first: what was before, theirs and yours. */
export function TwoVersions({ name, changes, labelOf, textOf, ...actions }: Props) {
  const say = useWords();
  return (
    <Dialog title={say('two.title', { name })} onClose={actions.onClose} isWide>
      <Table
        label={say('two.changes')}
        className={styles['changes']}
        heads={[say('two.setting'), say('two.before'), say('two.theirs'), say('two.yours')]}
      >
        {changes.map((change) => (
          <tr key={`${change.member} ${change.part}`}>
            <th scope="row">{labelOf(change)}</th>
            {(['before', 'theirs', 'yours'] as const).map((which) => {
              const value = change[which];
              const text = textOf?.(change, value) ?? plainText(value, say);
              const isNew = which !== 'before' && !same(value, change.before);
              return (
                <td key={which}>
                  {isNew ? <ins>{text}</ins> : <span className="second">{text}</span>}
                </td>
              );
            })}
          </tr>
        ))}
      </Table>
      <p className="quiet">{say('two.note')}</p>
      <div className="dialogEnd">
        <button type="button" className="button" onClick={actions.onTakeTheirs}>
          {say('two.takeTheirs')}
        </button>
        <button type="button" className="button main" onClick={actions.onSaveBoth}>
          {say('two.saveBoth')}
        </button>
      </div>
    </Dialog>
  );
}

function plainText(value: unknown, say: Say): string {
  if (value === undefined || value === '') return '–';
  if (typeof value === 'boolean') return say(value ? 'two.yes' : 'two.no');
  return valueText(value);
}
