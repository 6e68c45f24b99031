import type { FieldProblem } from '../../api/client.ts';
import { Icon } from '../../pieces/icon.tsx';
import { useWords, type Say } from '../../words/index.ts';
import type { Draft, StoredKey } from './draft.ts';
import styles from './editor.module.css';
import { Labelled, memberLabel, problemsOf } from './fields.tsx';
import type { Channel } from './list.ts';

interface Props {
  readonly draft: Draft;
  readonly onChange: (change: Partial<Draft>) => void;
  readonly problems: readonly FieldProblem[];
}

/** Enough to see that the right one was pasted. */
const shorten = (key: string): string =>
  key.length < 16 ? '…' : `${key.slice(0, 3)}…${key.slice(-4)}`;

/** Such as "1: sk-…9f2a": keys may look alike. */
const keyName = ({ hint, number }: StoredKey, say: Say): string =>
  say('channels.keyNumber', { number, hint });

/** Credentials: stored ones by their hints, which can be taken out, and new ones, which are never shown. */
export function KeysField({
  draft,
  onChange,
  problems,
  states,
  isReadOnly = false,
}: Props & { readonly states: Channel['api_keys']; readonly isReadOnly?: boolean }) {
  const say = useWords();
  const stored = draft.api_keys.filter((key) => typeof key !== 'string');
  const typed = draft.api_keys.filter((key) => typeof key === 'string');
  return (
    <div className={styles['stack']}>
      {stored.length > 0 && (
        <ul className={styles['secrets']} aria-label={say('channels.storedKeys')}>
          {stored.map((key, at) => {
            const { hint, number } = key;
            const state = states[number - 1]?.state ?? null;
            const name = stored.length === 1 ? hint : keyName(key, say);
            return (
              <li key={number}>
                {stored.length > 1 && <span className="quiet">{number}</span>}
                <code>{hint}</code>
                {state !== null && state !== 'ready' && (
                  <span className={`outcome ${state === 'disabled' ? 'failed' : 'warned'}`}>
                    <Icon name={state === 'disabled' ? 'cross' : 'warning'} size={12} />
                    {say(`channels.keyStates.${state}`)}
                  </span>
                )}
                <button
                  type="button"
                  className="link"
                  aria-label={say('channels.removeNamed', { name })}
                  onClick={() =>
                    onChange({ api_keys: [...stored.filter((_, other) => other !== at), ...typed] })
                  }
                >
                  {say('channels.remove')}
                </button>
              </li>
            );
          })}
        </ul>
      )}
      {isReadOnly && stored.length === 0 && <p className="quiet">{say('channels.noKey')}</p>}
      {!isReadOnly && (
        <Labelled
          name="api_keys"
          problems={problems}
          hint={
            typed.length === 0
              ? undefined
              : say('channels.newKeys', { keys: typed.map(shorten).join(', ') })
          }
        >
          {({ id, note, isWrong }) => (
            <input
              className="input"
              id={id}
              type="password"
              value={typed.join(' ')}
              autoComplete="off"
              spellCheck={false}
              aria-invalid={isWrong}
              aria-describedby={note}
              onPaste={(event) => {
                // A field of one line would join the lines.
                event.preventDefault();
                const { selectionStart, selectionEnd, value } = event.currentTarget;
                const [start, end] = [selectionStart ?? value.length, selectionEnd ?? value.length];
                const pasted = event.clipboardData.getData('text');
                const text = `${value.slice(0, start)}${pasted}${value.slice(end)}`;
                onChange({ api_keys: [...stored, ...keysIn(text)] });
              }}
              onChange={({ target }) =>
                onChange({ api_keys: [...stored, ...keysIn(target.value)] })
              }
            />
          )}
        </Labelled>
      )}
    </div>
  );
}

/** No key has a space in it. */
const keysIn = (text: string): string[] => text.split(/\s+/).filter((key) => key !== '');

/** Headers that are added to requests: stored ones by their hints, new ones as they are typed. */
export function HeadersField({ draft, onChange, problems }: Props) {
  const say = useWords();
  const own = problemsOf('headers', problems);
  const entries = Object.entries(draft.headers);
  const put = (next: readonly (readonly [string, unknown])[]) =>
    onChange({ headers: Object.fromEntries(next) as Draft['headers'] });
  return (
    <fieldset className="field" aria-describedby="channel-headers-note">
      <legend className="hint">{memberLabel('headers', say)}</legend>
      {entries.map(([name, value], at) => (
        <div className={styles['pair']} key={at}>
          <input
            className="input"
            aria-label={say('channels.headerName', { number: at + 1 })}
            value={name}
            readOnly={typeof value !== 'string'}
            autoComplete="off"
            spellCheck={false}
            onChange={({ target }) =>
              put(entries.map((each, other) => (other === at ? [target.value, value] : each)))
            }
          />
          {typeof value === 'string' ? (
            <input
              className="input"
              type="password"
              aria-label={say('channels.headerValue', { number: at + 1 })}
              value={value}
              autoComplete="off"
              onChange={({ target }) =>
                put(entries.map((each, other) => (other === at ? [name, target.value] : each)))
              }
            />
          ) : (
            <span className={styles['stored']}>
              <code>{value.hint}</code>
              <button
                type="button"
                className="link"
                onClick={() =>
                  put(entries.map((each, other) => (other === at ? [name, ''] : each)))
                }
              >
                {say('channels.replace')}
              </button>
            </span>
          )}
          <button
            type="button"
            className="button bare"
            aria-label={say('channels.removeNamed', { name: name || String(at + 1) })}
            onClick={() => put(entries.filter((_, other) => other !== at))}
          >
            <Icon name="close" />
          </button>
        </div>
      ))}
      {!('' in draft.headers) && (
        <button
          type="button"
          className={`link ${styles['add']}`}
          onClick={() => put([...entries, ['', '']])}
        >
          {say('channels.addHeader')}
        </button>
      )}
      <p className={own.length === 0 ? 'hint' : 'problem'} id="channel-headers-note">
        {own.join(' ') || say('channels.memberHints.headers')}
      </p>
    </fieldset>
  );
}
