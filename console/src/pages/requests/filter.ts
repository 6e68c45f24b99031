import { ApiFailure } from '../../api/client.ts';

/** Words that sums can be filtered by too. */
export const nameWords = ['model', 'key', 'user', 'team', 'channel', 'client'] as const;

/** Words of the filter line, which the gateway reads. */
export const filterWords = [
  ...nameWords,
  ...([
    'tried',
    'error',
    'protocol',
    'operation',
    'outcome',
    'status',
    'cost',
    'ms',
    'ttft',
    'asked',
  ] as const),
] as const;
export type FilterWord = (typeof filterWords)[number];

/** What is being typed at the end of a line. */
export interface LastWord {
  /** The line without the value that is being typed, or without the word if it has no colon yet. */
  readonly before: string;
  /** Null until its colon. */
  readonly word: string | null;
  readonly value: string;
}

/** The end of a line such as `status:200 -model:demo,cla`. */
export function lastWord(line: string): LastWord {
  const [piece = ''] = /(?:[^\s"]|"[^"]*"?)*$/.exec(line) ?? [];
  const [, word] = /^-?([^":]*):/.exec(piece) ?? [];
  const typed = word === undefined ? piece.replace(/^-/, '') : piece.slice(piece.indexOf(':') + 1);
  const value = word === undefined ? typed : typed.replace(/^(?:[^,"]|"[^"]*")*,/, '');
  return {
    before: line.slice(0, line.length - value.length),
    word: word ?? null,
    value: value.replaceAll('"', ''),
  };
}

/** A value of the filter line, as it is typed. */
export const filterValue = (value: string): string =>
  /[\s,]|^[<>=]/.test(value) ? `"${value}"` : value;

/** A word of the filter line, as it is typed. */
export function filterWord(word: FilterWord, value: string): string {
  return `${word}:${filterValue(value)}`;
}

/** A line that also says this word, or leaves out what it says. */
export const withWord = (line: string, word: string, isExcluded: boolean): string => {
  const added = isExcluded ? `-${word}` : word;
  return ` ${line} `.includes(` ${added} `) ? line : `${line} ${added}`.trim();
};

/** Whether a line names values of a word. */
export function hasWord(line: string, word: FilterWord): boolean {
  return new RegExp(`(?:^|\\s)${word}:`).test(line);
}

/** Why the gateway cannot read the line; null: the error is about something else. */
export function filterProblemOf(error: unknown): string | null {
  if (!(error instanceof ApiFailure)) return null;
  return error.fields.find(({ path }) => path === 'filter')?.message ?? null;
}
