import type { FieldProblem } from '../../api/client.ts';
import { Icon } from '../../pieces/icon.tsx';
import { useWords } from '../../words/index.ts';
import type { Draft, ServedModel } from './draft.ts';
import styles from './editor.module.css';

interface Props {
  readonly models: readonly ServedModel[];
  readonly onChange: (change: Partial<Draft>) => void;
  readonly problems: readonly FieldProblem[];
  /** Names that the catalogue knows. */
  readonly known: readonly string[];
}

/** The models of a channel: the name that clients use, and the upstream's own. */
export function ModelsField({ models, onChange, problems, known }: Props) {
  const say = useWords();
  const put = (next: readonly ServedModel[]) => onChange({ models: next });
  const edit = (at: number, change: Partial<ServedModel>) =>
    put(models.map((model, other) => (other === at ? { ...model, ...change } : model)));
  const general = problems.filter(({ path }) => path === 'models');
  return (
    <fieldset className="field">
      <legend className="hidden">{say('channels.members.models')}</legend>
      <datalist id="channel-known-models">
        {known.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      {models.length > 0 && (
        <div className={styles['pairHead']} aria-hidden="true">
          <span>{say('channels.clientName')}</span>
          <span>{say('channels.upstreamName')}</span>
        </div>
      )}
      {models.map(({ name, upstream }, at) => {
        const own = problems.filter(({ path }) => new RegExp(`^models\\[${at}\\]`).test(path));
        const note = `channel-model-${at}-note`;
        return (
          <div key={at}>
            <div className={styles['pair']}>
              <input
                className="input"
                list="channel-known-models"
                aria-label={say('channels.clientNameOf', { number: at + 1 })}
                value={name}
                autoComplete="off"
                spellCheck={false}
                aria-invalid={own.length > 0}
                aria-describedby={note}
                onChange={({ target }) => edit(at, { name: target.value })}
              />
              <input
                className="input"
                aria-label={say('channels.upstreamNameOf', { number: at + 1 })}
                value={upstream}
                placeholder={name}
                autoComplete="off"
                spellCheck={false}
                onChange={({ target }) => edit(at, { upstream: target.value })}
              />
              <button
                type="button"
                className="button bare"
                aria-label={say('channels.removeNamed', { name: name || String(at + 1) })}
                onClick={() => put(models.filter((_, other) => other !== at))}
              >
                <Icon name="close" />
              </button>
            </div>
            <p className="problem" id={note}>
              {own.map(({ message }) => message).join(' ')}
            </p>
          </div>
        );
      })}
      <button
        type="button"
        className={`link ${styles['add']}`}
        id="channel-add-model"
        onClick={() => put([...models, { name: '', upstream: '' }])}
      >
        {say('channels.addModel')}
      </button>
      <p className={general.length === 0 ? 'hint' : 'problem'}>
        {general.map(({ message }) => message).join(' ') || say('channels.memberHints.models')}
      </p>
    </fieldset>
  );
}
