import { unquote, type Test } from './filter-values.ts';
import { filterWords, type FilterWord } from './filter-words.repository.ts';

/** A word of a filter line: one of its tests must hold, or none of them if it is excluded. */
export interface Term {
  /** `text`: a plain word, which is searched for. */
  readonly word: FilterWord | 'text';
  readonly isExcluded: boolean;
  readonly tests: readonly Test[];
}

/** A filter line that cannot be read; the message is a sentence with the place. */
export class FilterError extends Error {
  override readonly name = 'FilterError';

  /** @param at the place of the word in the line, from 0 */
  constructor(at: number, word: string, problem: string) {
    super(`'${word}' (character ${at + 1}): ${problem}`);
  }
}

const mostWords = 30;
const allWords = [...(Object.keys(filterWords) as FilterWord[]), 'text'] as const;

/**
 * Reads a line such as `model:claude* -status:4xx ttft:>2s refused`. All words must hold; values after commas are
 * alternatives; `-` excludes. A word without a colon is searched for. Quotes keep spaces, commas and colons.
 * @param known the words that may be used; without `text`, nothing is searched for
 * @throws FilterError
 */
export function readFilterLine(line: string, known: readonly Term['word'][] = allWords): Term[] {
  const pieces = [...line.matchAll(/(?:[^\s"]|"[^"]*"?)+/g)];
  const extra = pieces[mostWords];
  if (extra !== undefined) {
    throw new FilterError(extra.index, extra[0], `a filter has at most ${mostWords} words`);
  }
  return pieces.map(({ 0: piece, index }) => readTerm(piece, index, known));
}

function readTerm(piece: string, at: number, known: readonly Term['word'][]): Term {
  const fail = (problem: string): never => {
    throw new FilterError(at, piece, problem);
  };
  if (piece.split('"').length % 2 === 0) fail('the quotation mark is not closed');
  const isExcluded = piece.startsWith('-') && piece !== '-';
  const text = isExcluded ? piece.slice(1) : piece;
  const [, name, list] = /^([^":]*):(.*)$/s.exec(text) ?? [];
  const usual = known.filter((each) => each !== 'text').join(', ');
  if (name === undefined || list === undefined) {
    if (!known.includes('text')) {
      fail(`sums are filtered by ${usual}; search for words in the list of requests`);
    }
    const wanted = unquote(text);
    if (wanted === '') fail('expected a word to search for');
    return { word: 'text', isExcluded, tests: [{ kind: 'contains', text: wanted }] };
  }
  if (!isWord(name)) fail(`there is no filter '${name}'; there are ${usual}`);
  if (!known.includes(name as FilterWord)) fail(`sums are filtered by ${usual} only`);
  const { read } = filterWords[name as FilterWord];
  const tests = splitValues(list).map((value): Test => {
    if (unquote(value) === '') return fail('a value is missing');
    const test = read(value);
    return typeof test === 'string' ? fail(test) : test;
  });
  return { word: name as FilterWord, isExcluded, tests };
}

const isWord = (name: string): name is FilterWord => Object.hasOwn(filterWords, name);

/** At commas outside of quotes. */
function splitValues(list: string): string[] {
  const values = [''];
  let isQuoted = false;
  for (const character of list) {
    if (character === '"') isQuoted = !isQuoted;
    if (character === ',' && !isQuoted) values.push('');
    else values[values.length - 1] += character;
  }
  return values;
}
