import { useState } from 'react';
import { ApiFailure } from '../../api/client.ts';
import { useWords } from '../../words/index.ts';
import { filterWords, type FilterReading } from './filter.ts';
import styles from './page.module.css';

interface Props {
  readonly filter: string;
  readonly reading: FilterReading;
  /** Why the list could not be loaded; a refused value belongs to this line. */
  readonly error: unknown;
  readonly onChange: (line: string) => void;
}

const words = Object.keys(filterWords);

/** One line of words such as `status:5xx`. It is the address of the list. */
export function FilterLine({ filter, reading, error, onChange }: Props) {
  const say = useWords();
  const [line, setLine] = useState(filter);
  const problem = problemOf();

  function problemOf(): string | null {
    if (reading.kind === 'unknown') {
      return say('requests.unknownWord', { word: reading.word, words: words.join(', ') });
    }
    if (!(error instanceof ApiFailure) || error.status !== 400) return null;
    const [field] = error.fields;
    if (field === undefined) return error.message;
    const word = Object.entries(filterWords).find(([, name]) => name === field.path)?.[0];
    return say('requests.wrongValue', { word: word ?? field.path, message: field.message });
  }

  return (
    <form
      className={styles['filter']}
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        onChange(line.trim());
      }}
    >
      <label className="hidden" htmlFor="filter">
        {say('requests.filter')}
      </label>
      <input
        className="input"
        id="filter"
        type="search"
        value={line}
        placeholder={say('requests.filterHint')}
        autoComplete="off"
        spellCheck={false}
        list="filter-words"
        aria-describedby="filter-problem"
        aria-invalid={problem !== null}
        onChange={({ target }) => {
          setLine(target.value);
          // The cross in the field clears at once.
          if (target.value === '') onChange('');
        }}
        onKeyDown={({ key, currentTarget }) => key === 'Escape' && currentTarget.blur()}
      />
      <datalist id="filter-words">
        {words.map((word) => (
          <option key={word} value={`${line.replace(/\S*$/, '')}${word}:`} />
        ))}
      </datalist>
      <p className="problem" id="filter-problem" role="alert">
        {problem}
      </p>
    </form>
  );
}
