import type { ReactNode } from 'react';
import type { FieldProblem } from '../../api/client.ts';
import { NamesField } from '../../pieces/name-fields.tsx';
import { nameOf } from '../../pieces/use-write.ts';
import { en } from '../../words/en.ts';
import { useWords, type Say, type TextName } from '../../words/index.ts';
import type { Change } from '../../pieces/merge.ts';
import type { Hint, Member, StoredKey } from './draft.ts';
import styles from './editor.module.css';

/** What a member is called; its name in the file, if it has no words yet. */
export function memberLabel(name: string, say: Say): string {
  return Object.hasOwn(en.channels.members, name)
    ? say(`channels.members.${name}` as TextName)
    : name;
}

/** A member, or a part of one such as a model. */
export const changeLabel = ({ member, part }: Change, say: Say): ReactNode => (
  <>
    {memberLabel(member, say)} {part !== null && <code>{part}</code>}
  </>
);

/** Stored secrets by their hints; one that was typed is not shown. Null: the member has no secrets. */
export function secretText({ member }: Change, value: unknown, say: Say): string | null {
  if ((member !== 'api_keys' && member !== 'headers') || value == null) return null;
  const text = (secret: unknown) =>
    typeof secret === 'string'
      ? say('channels.newSecret')
      : 'number' in (secret as Hint)
        ? say('channels.keyNumber', secret as StoredKey)
        : (secret as Hint).hint;
  return Array.isArray(value) ? value.map(text).join(', ') || '–' : text(value);
}

const hintOf = (name: string, say: Say): string =>
  Object.hasOwn(en.channels.memberHints, name)
    ? say(`channels.memberHints.${name}` as TextName)
    : '';

/** The word of a choice; the choice itself, if it has no words. */
const choiceText = (member: string, choice: string, say: Say): string =>
  Object.hasOwn(en.channels.choices, `${member}_${choice}`)
    ? say(`channels.choices.${member}_${choice}` as TextName)
    : choice;

/** What is wrong with a member or one of its parts. */
export const problemsOf = (name: string, problems: readonly FieldProblem[]): readonly string[] =>
  problems
    .filter(({ path }) => nameOf(path).replace(/\..*$/, '') === name)
    .map(({ path, message }) =>
      path === name ? message : `${path.slice(name.length)}: ${message}`,
    );

interface FieldProps {
  readonly name: string;
  readonly problems: readonly FieldProblem[];
  /** Absent: the member's own. */
  readonly hint?: ReactNode;
  readonly children: (about: { id: string; note: string; isWrong: boolean }) => ReactNode;
}

/** A label, its field, and what explains it or is wrong with it. */
export function Labelled({ name, problems, hint, children }: FieldProps) {
  const say = useWords();
  const own = problemsOf(name, problems);
  const id = `channel-${name}`;
  return (
    <div className="field">
      <label htmlFor={id} id={`${id}-label`}>
        {memberLabel(name, say)}
      </label>
      {children({ id, note: `${id}-note`, isWrong: own.length > 0 })}
      <p className={own.length === 0 ? 'hint' : 'problem'} id={`${id}-note`}>
        {own.length === 0 ? (hint ?? hintOf(name, say)) : own.join(' ')}
      </p>
    </div>
  );
}

interface Props {
  readonly member: Member;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
  readonly problems: readonly FieldProblem[];
  readonly hint?: ReactNode;
  /** Those that can be chosen; absent: the member's own. */
  readonly choices?: readonly string[];
  /** For lists: what is there at first was replaced. */
  readonly version?: number;
}

/** A member in the form that its description says. */
export function MemberField(props: Props) {
  const { member, value, onChange, problems, hint, version = 0 } = props;
  const { name, form } = member;
  const choices = props.choices ?? member.choices;
  const say = useWords();
  if (form === 'flag') {
    const own = problemsOf(name, problems);
    return (
      <div className="field">
        <label className={styles['tick']}>
          <input
            type="checkbox"
            checked={value === true}
            onChange={({ target }) => onChange(target.checked)}
          />
          {memberLabel(name, say)}
        </label>
        <p className={own.length === 0 ? 'hint' : 'problem'}>
          {own.join(' ') || hintOf(name, say)}
        </p>
      </div>
    );
  }
  if (form === 'structure') {
    return <Structure {...props} choices={choices ?? []} />;
  }
  if (form === 'names' && choices !== null) {
    return <Ticks {...props} choices={choices} />;
  }
  return (
    <Labelled name={name} problems={problems} hint={hint}>
      {({ id, note, isWrong }) => {
        const about = { id, 'aria-invalid': isWrong, 'aria-describedby': note };
        if (form === 'choice') {
          return (
            <select
              className="input"
              {...about}
              value={String(value)}
              onChange={({ target }) => onChange(target.value)}
            >
              {(choices ?? []).map((each) => (
                <option key={each} value={each}>
                  {choiceText(name, each, say)}
                </option>
              ))}
            </select>
          );
        }
        if (form === 'names') {
          return (
            <NamesField
              key={version}
              id={id}
              name={name}
              names={value as string[]}
              initial={value as string[]}
              isWrong={isWrong}
              note={note}
              onChange={onChange}
            />
          );
        }
        return (
          <input
            className="input"
            {...about}
            type={form === 'count' ? 'number' : 'text'}
            value={(value as string | number | null) ?? ''}
            autoComplete="off"
            spellCheck={false}
            onChange={({ target }) =>
              onChange(
                form === 'count' && target.value !== '' ? Number(target.value) : target.value,
              )
            }
          />
        );
      }}
    </Labelled>
  );
}

/** Names of which there are few. */
function Ticks({
  member: { name },
  value,
  onChange,
  problems,
  choices,
}: Props & { choices: readonly string[] }) {
  const say = useWords();
  const chosen = value as readonly string[];
  const own = problemsOf(name, problems);
  return (
    <fieldset className="field" aria-describedby={`channel-${name}-note`}>
      <legend className="hint">{memberLabel(name, say)}</legend>
      <div className={styles['ticks']}>
        {[...new Set([...choices, ...chosen])].map((each) => (
          <label key={each} className={styles['tick']}>
            <input
              type="checkbox"
              checked={chosen.includes(each)}
              onChange={({ target }) =>
                onChange(
                  target.checked ? [...chosen, each] : chosen.filter((other) => other !== each),
                )
              }
            />
            {each}
          </label>
        ))}
      </div>
      <p className={own.length === 0 ? 'hint' : 'problem'} id={`channel-${name}-note`}>
        {own.join(' ') || hintOf(name, say)}
      </p>
    </fieldset>
  );
}

/** A mapping of a few known names to texts. */
function Structure({
  member: { name },
  value,
  onChange,
  problems,
  choices,
}: Props & { choices: readonly string[] }) {
  const say = useWords();
  const parts = (value ?? {}) as Readonly<Record<string, string>>;
  const own = problemsOf(name, problems);
  return (
    <fieldset className={styles['whole']} aria-describedby={`channel-${name}-note`}>
      <legend className="hint">{memberLabel(name, say)}</legend>
      <div className={styles['three']}>
        {choices.map((part) => {
          const isWrong = problems.some(({ path }) => path === `${name}.${part}`);
          return (
            <div className="field" key={part}>
              <label htmlFor={`channel-${name}-${part}`}>{choiceText(name, part, say)}</label>
              <input
                className="input"
                id={`channel-${name}-${part}`}
                value={parts[part] ?? ''}
                aria-invalid={isWrong}
                autoComplete="off"
                onChange={({ target }) => {
                  const { [part]: _, ...others } = parts;
                  onChange(target.value === '' ? others : { ...others, [part]: target.value });
                }}
              />
            </div>
          );
        })}
      </div>
      <p className={own.length === 0 ? 'hint' : 'problem'} id={`channel-${name}-note`}>
        {own.join(' ') || hintOf(name, say)}
      </p>
    </fieldset>
  );
}
