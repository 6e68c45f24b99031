import {
  filterWords,
  type FilteredRow,
  type NameFilters,
  type Term,
  type Test,
} from '#usage/index.ts';

export interface LiveFilter extends Pick<NameFilters, 'userId' | 'teamIds'> {
  readonly terms: readonly Term[];
}

/** Whether a list with this filter shows the request. One that has not ended matches what is not known yet. */
export function matches({ userId, teamIds = [], terms }: LiveFilter, row: FilteredRow): boolean {
  if (userId !== undefined && row.user_id !== userId && !teamIds.includes(row.team_id ?? '')) {
    return false;
  }
  return terms.every((term) => holdsOf(term, row));
}

function holdsOf({ word, tests, isExcluded }: Term, row: FilteredRow): boolean {
  const values = word === 'text' ? searched(row) : filterWords[word].of(row);
  if (values.includes(undefined)) return true;
  const isAny = tests.some((test) =>
    values.some((value) => value !== null && value !== undefined && passes(test, value)),
  );
  return isAny !== isExcluded;
}

/** What is not known yet is not found. */
function searched({ id, key, user, team, model, ended }: FilteredRow): (string | null)[] {
  return [id, key, user, team, model, ended?.channel ?? null, ended?.error ?? null];
}

function passes(test: Test, value: string | number | bigint): boolean {
  if (test.kind === 'within') {
    const number = typeof value === 'number' ? BigInt(Math.round(value)) : BigInt(value);
    return (test.least ?? number) <= number && number <= (test.most ?? number);
  }
  const text = String(value);
  if (test.kind === 'is') return text === test.text;
  return test.kind === 'begins'
    ? text !== '' && text.startsWith(test.text)
    : text.toLowerCase().includes(test.text.toLowerCase());
}
