import { useQuery } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { read, type Result } from '../../api/client.ts';
import type { Span } from '../../app/range.ts';
import { useFormats } from '../../format/numbers.ts';
import { useWords } from '../../words/index.ts';
import { filterProblemOf, filterValue, filterWords, lastWord } from './filter.ts';
import styles from './page.module.css';

interface Props {
  readonly filter: string;
  readonly span: Span;
  /** The words that the page has; absent: all. */
  readonly words?: readonly string[];
  /** Why the list could not be loaded; a refused value belongs to this line. */
  readonly error: unknown;
  readonly onChange: (line: string) => void;
}

const mostShown = 12;
const mostFacets = 50;

interface Suggestion {
  /** The whole line with it. */
  readonly line: string;
  readonly text: string;
  readonly count: number | null;
}

/** One line of words such as `status:5xx`, with what they can be. It is the address of the list. */
export function FilterLine({ filter, span, words = filterWords, error, onChange }: Props) {
  const say = useWords();
  const formats = useFormats();
  const id = useId();
  const [line, setLine] = useState(filter);
  const [isOpen, setOpen] = useState(false);
  const [active, setActive] = useState(-1);
  const suggestions = useSuggestions(line, words, span, isOpen);
  const isShown = isOpen && suggestions.length > 0;
  const problem = filterProblemOf(error);

  function take({ line: taken }: Suggestion): void {
    setLine(taken);
    setActive(-1);
    document.getElementById('filter')?.focus();
  }

  function press(key: string): boolean {
    const by = key === 'ArrowDown' ? 1 : key === 'ArrowUp' ? -1 : 0;
    const chosen = suggestions[active];
    if (by !== 0 && isShown) {
      setActive((active + by + suggestions.length + 1) % (suggestions.length + 1));
    } else if ((key === 'Enter' || key === 'Tab') && isShown && chosen !== undefined) take(chosen);
    else if (key === 'Escape' && isShown) setOpen(false);
    else return false;
    return true;
  }

  return (
    <form
      className={styles['filter']}
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        setOpen(false);
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
        role="combobox"
        value={line}
        placeholder={say(words === filterWords ? 'requests.filterHint' : 'explore.filterHint')}
        autoComplete="off"
        spellCheck={false}
        aria-expanded={isShown}
        aria-controls={`${id}-list`}
        aria-activedescendant={isShown && active >= 0 ? `${id}-${active}` : undefined}
        aria-autocomplete="list"
        aria-describedby="filter-problem"
        aria-invalid={problem !== null}
        onFocus={() => setOpen(true)}
        onBlur={() => setOpen(false)}
        onChange={({ target }) => {
          setLine(target.value);
          setOpen(true);
          setActive(-1);
          // The cross in the field clears at once.
          if (target.value === '') onChange('');
        }}
        onKeyDown={(event) => {
          if (press(event.key)) event.preventDefault();
          else if (event.key === 'Escape') event.currentTarget.blur();
        }}
      />
      <ul
        className={styles['suggestions']}
        id={`${id}-list`}
        role="listbox"
        aria-label={say('data.suggestions')}
        hidden={!isShown}
      >
        {suggestions.map((suggestion, at) => (
          <li
            key={suggestion.text}
            id={`${id}-${at}`}
            role="option"
            aria-selected={at === active}
            // Before the field loses the focus, which closes the list.
            onPointerDown={(event) => {
              event.preventDefault();
              take(suggestion);
            }}
          >
            <span className="cut">{suggestion.text}</span>
            {suggestion.count !== null && (
              <span className="quiet">{formats.count(suggestion.count)}</span>
            )}
          </li>
        ))}
      </ul>
      <p className="problem" id="filter-problem" role="alert">
        {problem}
      </p>
    </form>
  );
}

/** Words, or values of the word that is being typed with the number of their requests. */
function useSuggestions(
  line: string,
  words: readonly string[],
  span: Span,
  isOpen: boolean,
): readonly Suggestion[] {
  const { before, word, value } = lastWord(line);
  const beginning = useFacets(span, '', isOpen);
  const isFull =
    word !== null && word in (beginning ?? {}) && facetOf(beginning, word).length >= mostFacets;
  const named = useFacets(span, value.slice(0, 64), isOpen && isFull && value !== '');
  if (word === null) {
    return words
      .filter((name) => name.startsWith(value))
      .map((name) => ({ line: `${before}${name}:`, text: `${name}:`, count: null }));
  }
  const wanted = value.toLowerCase();
  const facet =
    word === 'asked' ? yesOrNo : facetOf(isFull && value !== '' ? named : beginning, word);
  return facet
    .filter((each) => each.value.toLowerCase().startsWith(wanted) && each.value !== value)
    .slice(0, mostShown)
    .map((each) => ({
      line: `${before}${filterValue(each.value)} `,
      text: each.value,
      count: each.count < 0 ? null : each.count,
    }));
}

type Facets = Result<'readFacets'>;
const yesOrNo: Facets['model'] = [
  { value: 'yes', count: -1 },
  { value: 'no', count: -1 },
];

function facetOf(facets: Facets | undefined, word: string): Facets['model'] {
  return facets !== undefined && Object.hasOwn(facets, word) ? facets[word as keyof Facets] : [];
}

function useFacets({ from, to, name }: Span, q: string, isOn: boolean): Facets | undefined {
  const { data } = useQuery({
    queryKey: ['facets', name, q],
    enabled: isOn,
    staleTime: 60_000,
    queryFn: ({ signal }) =>
      read<'readFacets'>(
        '/usage/facets',
        {
          from,
          ...(to !== undefined && { to }),
          ...(q !== '' && { q }),
          limit: String(mostFacets),
        },
        signal,
      ),
  });
  return data;
}
