import { Dialog } from '../../pieces/dialog.tsx';
import { Table } from '../../pieces/table.tsx';
import { useWords, type Say } from '../../words/index.ts';
import type { Change } from './draft.ts';
import styles from './editor.module.css';
import { memberLabel } from './fields.tsx';

interface Props {
  readonly name: string;
  readonly changes: readonly Change[];
  readonly onTakeTheirs: () => void;
  readonly onSaveBoth: () => void;
  readonly onClose: () => void;
}

/** Somebody else has saved first: what was before, theirs and yours. */
export function TwoEditors({ name, changes, onTakeTheirs, onSaveBoth, onClose }: Props) {
  const say = useWords();
  return (
    <Dialog title={say('channels.two.title', { name })} onClose={onClose} isWide>
      <Table
        label={say('channels.two.changes')}
        className={styles['changes']}
        heads={[
          say('channels.two.setting'),
          say('channels.two.before'),
          say('channels.two.theirs'),
          say('channels.two.yours'),
        ]}
      >
        {changes.map((change) => (
          <tr key={`${change.member} ${change.part}`}>
            <th scope="row">
              {memberLabel(change.member, say)} {change.part !== null && <code>{change.part}</code>}
            </th>
            {(['before', 'theirs', 'yours'] as const).map((which) => {
              const text = textOf(change, change[which], say);
              const isNew = which !== 'before' && text !== textOf(change, change.before, say);
              return (
                <td key={which}>
                  {isNew ? <ins>{text}</ins> : <span className="second">{text}</span>}
                </td>
              );
            })}
          </tr>
        ))}
      </Table>
      <p className="quiet">{say('channels.two.note')}</p>
      <div className={styles['actions']}>
        <button type="button" className="button" onClick={onTakeTheirs}>
          {say('channels.two.takeTheirs')}
        </button>
        <button type="button" className="button main" onClick={onSaveBoth}>
          {say('channels.two.saveBoth')}
        </button>
      </div>
    </Dialog>
  );
}

const isHint = (value: unknown): value is { readonly hint: string } =>
  typeof value === 'object' && value !== null && 'hint' in value;

/** A value in a cell; a secret that was typed is not shown. */
function textOf({ member }: Change, value: unknown, say: Say): string {
  const isSecret = member === 'api_keys' || member === 'headers';
  if (Array.isArray(value)) {
    const texts = value.map((each: unknown) =>
      isHint(each) ? each.hint : isSecret ? say('channels.two.newSecret') : String(each),
    );
    return texts.join(', ') || '–';
  }
  if (isHint(value)) return value.hint;
  if (value === undefined || value === null || value === '') return '–';
  if (typeof value === 'boolean') return say(value ? 'channels.two.yes' : 'channels.two.no');
  if (isSecret) return say('channels.two.newSecret');
  return typeof value === 'string' ? value : JSON.stringify(value);
}
